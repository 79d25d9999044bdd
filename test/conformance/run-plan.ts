import { setTimeout as sleep } from 'node:timers/promises';
import type { Screenshot } from './complete-browser-step.ts';
import type { ConformancePlan } from './conformance-plans.ts';
import type { ModuleResult, PlanResult } from './plan-results.ts';
import type { BrowserStep, ConformanceSuite, LogEntry, ModuleOfPlan } from './suite-api.ts';
import { selectUserAction, type UserAction } from './user-actions.ts';

/** Opens the URLs of one module in a new browser session. */
export type BrowserSession = AsyncDisposable & {
  /** Completes a step, and returns a screenshot of the last page that the server showed. */
  complete(step: BrowserStep, action: UserAction): Promise<Screenshot | undefined>;
};

export type PlanAdministrator = {
  /** Prepares the server for a browser step (default: nothing). */
  readonly prepareStep?: (step: BrowserStep) => Promise<void>;
  /** Replaces the server's signing keys. One module of the suite waits until the keys have been replaced. */
  readonly rotateSigningKeys: () => Promise<void>;
};

export type RunOptions = {
  readonly suite: ConformanceSuite;
  readonly openBrowserSession: () => Promise<BrowserSession>;
  readonly report: (line: string) => void;
  /** Administrator actions while a plan runs. */
  readonly administrator: PlanAdministrator;
  /** Selects modules by name (default: all modules). */
  readonly modules?: readonly string[];
  readonly moduleTimeoutMs?: number;
  readonly pollMs?: number;
};

/** Maximum duration of a module. Even on a busy machine, no module takes this long. */
const defaultModuleTimeoutMs = 300_000;

/** The only module that does not start by itself, because its user must first rotate the server's signing keys. */
const keyRotationModule = 'oidcc-server-rotate-keys';

/** Runs all modules of a plan sequentially, because the modules share the redirect URIs. Omitted modules are not run. */
export async function runPlan(
  { id, name, variant, omittedModules = {} }: ConformancePlan,
  configuration: object,
  options: RunOptions,
): Promise<Pick<PlanResult, 'plan' | 'modules'>> {
  const { suite, report, modules: names = [] } = options;
  const plan = await suite.createPlan(name, variant, configuration);
  const modules: ModuleResult[] = [];
  for (const module of plan.modules) {
    const isSelected = names.length === 0 ? omittedModules[module.testModule] === undefined : names.includes(module.testModule);
    if (!isSelected) continue;
    const result = await runModule(plan.id, module, options);
    report(`${result.result.padEnd(8)} ${result.module}`);
    for (const finding of result.findings) report(`         ${finding}`);
    modules.push(result);
  }
  return { plan: id, modules };
}

async function runModule(planId: string, module: ModuleOfPlan, options: RunOptions): Promise<ModuleResult> {
  const { suite, openBrowserSession, administrator, moduleTimeoutMs = defaultModuleTimeoutMs, pollMs = 500 } = options;
  const id = await suite.startModule(planId, module);
  await using session = await openBrowserSession();
  const deadline = performance.now() + moduleTimeoutMs;
  let state = await suite.readModuleState(id);
  const problems: string[] = [];
  let steps = 0;
  while (!['FINISHED', 'INTERRUPTED'].includes(state.status) && performance.now() < deadline) {
    if (state.status === 'CONFIGURED' && module.testModule === keyRotationModule) {
      await administrator.rotateSigningKeys();
      await suite.continueModule(id);
    }
    for (const step of await suite.listBrowserSteps(id)) {
      await administrator.prepareStep?.(step);
      await suite.markVisited(id, step.url);
      const action = selectUserAction(module.testModule, steps);
      steps += 1;
      await completeStep(suite, id, () => session.complete(step, action)).catch((error: unknown) =>
        problems.push(`runner: ${String(error)}`),
      );
    }
    await sleep(pollMs);
    state = await suite.readModuleState(id);
  }
  const result = state.status === 'FINISHED' ? (state.result ?? 'UNKNOWN') : state.status;
  // a passed module can have placeholders for screenshots that are not needed
  const findings = result === 'PASSED' ? [] : [...listFindings(await suite.readLog(id)), ...problems];
  return { module: module.testModule, result, findings };
}

/**
 * Sources of the log entries with which the suite requests a screenshot of the sign-in page. All other entries request a screenshot of a
 * final page.
 */
const signInPageRequests: ReadonlySet<string> = new Set([
  'ExpectSecondLoginPage',
  'ExpectLoginPageWithLogo',
  'ExpectLoginPageWithPolicyLink',
  'ExpectLoginPageWithTosLink',
]);

/**
 * Completes a browser step, and uploads the screenshot if the suite is waiting for one. Most modules wait for an error page, or for a
 * response at the callback URL. A screenshot of a page that the user has already left would complete such a module too early.
 */
async function completeStep(suite: ConformanceSuite, id: string, complete: () => Promise<Screenshot | undefined>): Promise<void> {
  const screenshot = await complete();
  if (!screenshot) return;
  for (const { upload, src = '' } of await suite.readLog(id))
    if (upload !== undefined && (screenshot.isFinalPage || signInPageRequests.has(src)))
      await suite.uploadScreenshot(id, upload, screenshot.image);
}

const findingResults = new Set(['FAILURE', 'WARNING', 'REVIEW', 'INTERRUPTED']);

/** Returns the log entries that explain why a module did not pass, and those that request a review. */
const listFindings = (log: readonly LogEntry[]): string[] =>
  log
    .filter(({ result, upload }) => upload !== undefined || findingResults.has(result ?? ''))
    .map(({ result = 'REVIEW', src = '', msg = '' }) => `${result}: ${src}: ${msg}`);
