import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { conformanceDocument, renderSuiteSection, replaceSuiteSection } from './conformance-document.ts';
import { conformancePlans } from './conformance-plans.ts';
import { readResults, storeResult, type PlanResult } from './plan-results.ts';
import { notExplained, remarkOf } from './remarks.ts';
import { runPlan, type BrowserSession } from './run-plan.ts';
import { startStubSuite } from './stub-suite.ts';
import { ConformanceSuite } from './suite-api.ts';
import { selectUserAction } from './user-actions.ts';

const [configPlan] = conformancePlans;
if (!configPlan) throw new Error('there are no plans');

const sampleResult: PlanResult = {
  plan: configPlan.id,
  date: '2026-11-24',
  suite: { version: '5.2.4', revision: '12f2a4d' },
  commit: '0123456789ab',
  modules: [
    { module: 'oidcc-server', result: 'PASSED', findings: [] },
    { module: 'oidcc-prompt-login', result: 'REVIEW', findings: ['REVIEW: ExpectSecondLoginPage: Upload it.'] },
    { module: 'oidcc-other', result: 'INTERRUPTED', findings: [] },
  ],
};

describe('a run of a plan', () => {
  const administrator = { rotateSigningKeys: async () => {} };
  const visited: string[] = [];
  const openBrowserSession = async (): Promise<BrowserSession> => ({
    complete: async ({ url }) => {
      visited.push(url);
      if (url.endsWith('/broken')) throw new Error('the browser stopped');
      return { image: Buffer.from('png'), isFinalPage: true };
    },
    [Symbol.asyncDispose]: async () => {},
  });

  const createOptions = (suiteUrl: string, open = openBrowserSession) => ({
    suite: new ConformanceSuite(suiteUrl),
    openBrowserSession: open,
    administrator,
    report: () => {},
    pollMs: 1,
  });

  test('opens the URLs, uploads the screenshots, and collects the findings', async () => {
    await using stub = await startStubSuite([
      { name: 'passes', result: 'PASSED', url: 'https://shop.example/authorize' },
      { name: 'needs-review', result: 'REVIEW', url: 'https://shop.example/error', needsScreenshot: true },
      {
        name: 'fails',
        result: 'FAILED',
        url: 'https://shop.example/broken',
        log: [
          { src: 'CheckClaim', msg: 'The claim is missing.', result: 'FAILURE' },
          { src: 'Other', msg: 'fine', result: 'SUCCESS' },
        ],
      },
    ]);
    const lines: string[] = [];
    const suite = new ConformanceSuite(stub.url);
    expect(await suite.readVersion()).toEqual({ version: '5.2.4', revision: '12f2a4d' });
    const { plan, modules } = await runPlan(
      { ...configPlan, variant: { client_registration: 'static_client' } },
      { alias: 'mandate' },
      { suite, openBrowserSession, administrator, report: (line) => lines.push(line), pollMs: 1 },
    );
    expect(plan).toBe(configPlan.id);
    expect(modules).toEqual([
      { module: 'passes', result: 'PASSED', findings: [] },
      { module: 'needs-review', result: 'REVIEW', findings: ['REVIEW: ExpectPage: Upload it.'] },
      {
        module: 'fails',
        result: 'FAILED',
        findings: ['FAILURE: CheckClaim: The claim is missing.', 'runner: Error: the browser stopped'],
      },
    ]);
    expect(visited).toEqual(['authorize', 'error', 'broken'].map((path) => `https://shop.example/${path}`));
    expect(stub.uploads).toEqual(['/api/log/1/images/shot data:image/png;base64,']);
    const [created] = stub.createdPlans;
    expect(created?.query.get('variant')).toBe('{"client_registration":"static_client"}');
    expect(created?.body).toEqual({ alias: 'mandate' });
    expect(lines).toContain('FAILED   fails');
  });

  test('reports the status of a module that does not finish, and runs only the selected modules', async () => {
    await using stub = await startStubSuite([
      { name: 'waits', result: 'PASSED', needsScreenshot: true },
      { name: 'other', result: 'PASSED' },
    ]);
    const { modules } = await runPlan(configPlan, {}, { ...createOptions(stub.url), moduleTimeoutMs: 20, modules: ['waits'] });
    expect(modules.map(({ module, result }) => [module, result])).toEqual([['waits', 'WAITING']]);
  });

  test('lets the user decline, or only open the page, if the module requires this', async () => {
    const rejects = 'fapi2-security-profile-final-user-rejects-authentication';
    const reuses = 'fapi2-security-profile-final-par-ensure-reused-request-uri-prior-to-auth-completion-succeeds';
    expect([0, 1].map((step) => selectUserAction(rejects, step))).toEqual(['cancel', 'cancel']);
    expect([0, 1].map((step) => selectUserAction(reuses, step))).toEqual(['open', 'allow']);
    await using stub = await startStubSuite(
      [rejects, 'oidcc-server'].map((name) => ({ name, result: 'PASSED', url: `https://x/${name}` })),
    );
    const actions: string[] = [];
    const session: BrowserSession = {
      complete: async (_step, action) => {
        actions.push(action);
        return undefined;
      },
      [Symbol.asyncDispose]: async () => {},
    };
    await runPlan(
      configPlan,
      {},
      createOptions(stub.url, async () => session),
    );
    expect(actions).toEqual(['cancel', 'allow']);
  });

  test('uploads a screenshot of a page that the user has left only if the suite requests the sign-in page', async () => {
    const url = 'https://shop.example/authorize';
    await using stub = await startStubSuite([
      { name: 'waits-for-callback', result: 'PASSED', url, log: [{ src: 'ExpectErrorPage', upload: 'not-needed' }] },
      { name: 'waits-for-page', result: 'REVIEW', url, log: [{ src: 'ExpectSecondLoginPage', upload: 'sign-in' }] },
    ]);
    const session: BrowserSession = {
      complete: async () => ({ image: Buffer.from('png'), isFinalPage: false }),
      [Symbol.asyncDispose]: async () => {},
    };
    await runPlan(
      configPlan,
      {},
      createOptions(stub.url, async () => session),
    );
    expect(stub.uploads).toEqual(['/api/log/1/images/sign-in data:image/png;base64,']);
  });

  test('lets an administrator prepare the server for each browser step, and rotate the signing keys for the module that needs it', async () => {
    const url = 'https://shop.example/authorize';
    await using stub = await startStubSuite([
      { name: 'oidcc-server', result: 'PASSED', url },
      { name: 'oidcc-server-rotate-keys', result: 'PASSED', isManual: true },
    ]);
    const done: string[] = [];
    const recording = {
      prepareStep: async (step: { url: string }) => void done.push(step.url),
      rotateSigningKeys: async () => void done.push('rotation'),
    };
    const { modules } = await runPlan(configPlan, {}, { ...createOptions(stub.url), administrator: recording });
    expect(modules.map(({ result }) => result)).toEqual(['PASSED', 'PASSED']);
    expect(done).toEqual([url, 'rotation']);
  });

  test('omits the modules that do not apply, unless they are selected', async () => {
    await using stub = await startStubSuite(['applies', 'omitted'].map((name) => ({ name, result: 'PASSED' })));
    const plan = { ...configPlan, omittedModules: { omitted: 'It does not apply.' } };
    const run = async (modules: string[]) =>
      (await runPlan(plan, {}, { ...createOptions(stub.url), modules })).modules.map(({ module }) => module);
    expect([await run([]), await run(['omitted'])]).toEqual([['applies'], ['omitted']]);
  });

  test('fails if the suite rejects the plan', async () => {
    await using stub = await startStubSuite([]);
    await expect(new ConformanceSuite(stub.url).readModuleState('7')).rejects.toThrow('the suite returned 404 for GET /api/info/7');
  });
});

describe('docs/conformance.md', () => {
  test('lists each module with its result, and the plans that were not run', () => {
    const section = renderSuiteSection([sampleResult]);
    expect(section).toContain(
      `| Config OP (\`${configPlan.id}\`) | 1 | 1 | 0 | 0 | 1 | 2026-11-24 | 5.2.4 (\`12f2a4d\`) | \`0123456789ab\` |`,
    );
    expect(section).toContain('| `oidcc-server` | passed |  |');
    const basic = renderSuiteSection([{ ...sampleResult, plan: 'oidcc-basic-certification-test-plan' }]);
    expect(basic).toContain('\n\nVariant: `server_metadata=discovery`, `client_registration=static_client`\n\n');
    expect(section).toContain(`| \`oidcc-prompt-login\` | review | ${remarkOf('oidcc-prompt-login')} |`);
    expect(section).toContain(`| \`oidcc-other\` | interrupted | ${notExplained} |`);
    const dynamic = renderSuiteSection([{ ...sampleResult, plan: 'oidcc-dynamic-certification-test-plan' }]);
    expect(dynamic).toMatch(/\| `oidcc-userinfo-rs256` \| not run \| The server does not sign/);
    expect(section).toContain('- Basic OP (`oidcc-basic-certification-test-plan`): there is no stored result.');
  });

  test('keeps its other sections when the results change', () => {
    const document = '# Conformance\n\nText.\n\n## OpenID conformance suite\n\nold\n\n## Other suites\n\nkept\n';
    const replaced = replaceSuiteSection(document, [sampleResult]);
    expect(replaced).toMatch(/^# Conformance\n\nText\.\n\n## OpenID conformance suite\n/);
    expect(replaced).toMatch(/\n\n## Other suites\n\nkept\n$/);
    expect(replaced).not.toContain('old\n');
    expect(() => replaceSuiteSection('# Conformance\n', [sampleResult])).toThrow('the document needs one section');
  });

  test('contains the stored results, and explains every result other than passed', async () => {
    const results = await readResults();
    const document = await readFile(conformanceDocument, 'utf8');
    expect(replaceSuiteSection(document, results)).toBe(document);
    const unexplained = results.flatMap(({ modules }) =>
      modules.filter(({ module, result }) => result !== 'PASSED' && remarkOf(module) === notExplained).map(({ module }) => module),
    );
    expect(unexplained).toEqual([]);
  });

  test('is written from stored results, and a run replaces only the results of its plan', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mandate-conformance-'));
    try {
      const file = join(folder, 'results.json');
      await writeFile(file, JSON.stringify([{ ...sampleResult, plan: 'other' }, sampleResult]));
      const stored = await storeResult({ ...sampleResult, modules: [] }, file);
      expect(stored.map(({ plan, modules }) => [plan, modules.length])).toEqual([
        ['other', 3],
        [configPlan.id, 0],
      ]);
      expect(await readResults(file)).toEqual(stored);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
