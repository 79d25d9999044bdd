/**
 * `npm run conformance -- --suite https://localhost:8443` runs the test plans of an OpenID conformance suite against this server, and
 * writes docs/conformance.md. `--plan NAME` selects plans by ID or name. With `--module NAME`, the program runs only this module, and only
 * prints its result. `--parallel 4` runs four plans at the same time.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { inspect, parseArgs } from 'node:util';
import { createAuthority } from '../support/application-keys/client-certificates.ts';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { repositoryRoot } from '../support/markdown.ts';
import { completeBrowserStep } from './complete-browser-step.ts';
import { conformanceDocument, replaceSuiteSection } from './conformance-document.ts';
import { selectPlans, type ConformancePlan } from './conformance-plans.ts';
import { createConformanceClients, createPlanConfiguration, createRegistrationConfiguration } from './plan-configuration.ts';
import { readResults, storeResult, type PlanResult } from './plan-results.ts';
import { runPlan, type BrowserSession } from './run-plan.ts';
import { ConformanceSuite, type BrowserStep } from './suite-api.ts';
import { startTestedServer } from './tested-server.ts';

const { values } = parseArgs({
  options: {
    suite: { type: 'string' },
    plan: { type: 'string', multiple: true, default: [] },
    module: { type: 'string', multiple: true, default: [] },
    parallel: { type: 'string', default: '1' },
  },
});
if (values.suite === undefined) throw new Error('--suite is required: the URL of a running conformance suite');
if (!hasChromium) throw new Error('Chromium is required: apt-get install chromium');
const plans = selectPlans(values.plan);
const writeDocument = async (): Promise<void> =>
  writeFile(conformanceDocument, replaceSuiteSection(await readFile(conformanceDocument, 'utf8'), await readResults()));
await writeDocument(); // fails immediately, instead of after a long run, if the document lacks the section
const suite = new ConformanceSuite(values.suite);
const { version, revision } = await suite.readVersion();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: repositoryRoot, encoding: 'utf8' }).trim();

const authority = createAuthority();
await using server = await startTestedServer(authority);
print(`The server ${server.issuer} is tested with version ${version} of the suite.`);
const browser = await launchChromium();
const openBrowserSession = async (): Promise<BrowserSession> => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 800, height: 700 } });
  context.setDefaultTimeout(120_000); // long enough for a busy machine
  return {
    complete: async (step, action) =>
      completeBrowserStep(await context.newPage(), step, {
        issuer: server.issuer,
        user: action === 'cancel' ? server.unconsentingUser : server.user,
        suiteOrigin: suite.origin,
        action,
      }),
    [Symbol.asyncDispose]: () => context.close(),
  };
};

/** Registers the applications of a plan, unless the suite registers them. Returns the suite's configuration. */
async function prepareConfiguration(plan: ConformancePlan, alias: string): Promise<object> {
  const run = { issuer: server.issuer, alias };
  if (plan.registersApplications === true) return createRegistrationConfiguration(plan, run, await server.createRegistrationToken());
  const clients = createConformanceClients(plan, { suiteOrigin: suite.origin, alias, authority });
  const credentials = await server.registerClients(clients.map(({ registration }) => registration));
  return createPlanConfiguration(plan, run, clients, credentials);
}

/** The suite's modules for OpenID Connect omit PKCE and the nonce. Only an administrator can permit this for an application. */
async function allowMissingPkce({ url }: BrowserStep): Promise<void> {
  const clientId = new URL(url).searchParams.get('client_id');
  if (clientId !== null) await server.allowNeitherPkceNorNonce(clientId);
}

/** @param alias must differ between plans that run at the same time, even in different processes */
async function runAndStorePlan(plan: ConformancePlan, alias: string): Promise<void> {
  const report = (line: string): void => print(`${plan.id}: ${line}`);
  const administrator = {
    rotateSigningKeys: () => server.rotateSigningKeys(),
    ...(plan.registersApplications === true && { prepareStep: allowMissingPkce }),
  };
  const configuration = await prepareConfiguration(plan, alias);
  const result = await runPlan(plan, configuration, { suite, openBrowserSession, report, administrator, modules: values.module });
  if (values.module.length === 0) await store(result);
}

/** Prints the error of a plan that could not be run. The other plans continue. */
function reportFailure({ id }: ConformancePlan, error: unknown): void {
  print(`${id}: ${inspect(error)}`); // `inspect` also prints the cause, which contains the code of a network error
  process.exitCode = 1;
}

type ResultOfRun = Pick<PlanResult, 'plan' | 'modules'>;
let stored = Promise.resolve();
/** Stores results sequentially, because concurrent changes to the same files would conflict. */
function store(result: ResultOfRun): Promise<void> {
  stored = storeAfter(stored, result);
  return stored;
}

async function storeAfter(previous: Promise<void>, result: ResultOfRun): Promise<void> {
  await previous;
  await storeResult({ ...result, date: new Date().toISOString().slice(0, 10), suite: { version, revision }, commit });
  await writeDocument();
}

try {
  const waiting = plans.values();
  await Promise.all(
    Array.from({ length: Number(values.parallel) }, async (_, index) => {
      for (const plan of waiting)
        await runAndStorePlan(plan, `mandate-${process.pid}-${index + 1}`).catch((error: unknown) => reportFailure(plan, error));
    }),
  );
} finally {
  await browser.close();
}
