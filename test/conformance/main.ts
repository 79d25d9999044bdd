/**
 * `npm run conformance -- --suite https://localhost:8443` runs the plans of a running OpenID conformance suite against this server, and
 * writes docs/conformance.md. `--plan NAME` selects plans by ID or name; `--module NAME` selects a single module, and only prints its
 * result.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { repositoryRoot } from '../support/markdown.ts';
import { completeBrowserStep } from './complete-browser-step.ts';
import { conformanceDocument, replaceSuiteSection } from './conformance-document.ts';
import { createConformanceClients, createPlanConfiguration, selectPlans } from './conformance-plans.ts';
import { readResults, storeResult } from './plan-results.ts';
import { runPlan, type BrowserSession } from './run-plan.ts';
import { ConformanceSuite } from './suite-api.ts';
import { startTestedServer } from './tested-server.ts';

const { values } = parseArgs({
  options: {
    suite: { type: 'string' },
    plan: { type: 'string', multiple: true, default: [] },
    module: { type: 'string', multiple: true, default: [] },
  },
});
if (values.suite === undefined) throw new Error('--suite is required: the URL of a running conformance suite');
if (!hasChromium) throw new Error('Chromium is required: apt-get install chromium');
const plans = selectPlans(values.plan);
const writeDocument = async (): Promise<void> =>
  writeFile(conformanceDocument, replaceSuiteSection(await readFile(conformanceDocument, 'utf8'), await readResults()));
await writeDocument(); // fails here, not after a long run, if the document lacks the section
const suite = new ConformanceSuite(values.suite);
const { version, revision } = await suite.readVersion();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: repositoryRoot, encoding: 'utf8' }).trim();

await using server = await startTestedServer();
print(`The server ${server.issuer} is tested with version ${version} of the suite.`);
const browser = await launchChromium();
const openBrowserSession = async (): Promise<BrowserSession> => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 800, height: 700 } });
  context.setDefaultTimeout(120_000); // even on a busy machine
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
try {
  for (const plan of plans) {
    print(`\n${plan.title} (${plan.id})`);
    const clients = createConformanceClients(plan, suite.origin);
    const credentials = await server.registerClients(clients.map(({ registration }) => registration));
    const configuration = createPlanConfiguration(plan, server.issuer, clients, credentials);
    const result = await runPlan(plan, configuration, { suite, openBrowserSession, report: print, modules: values.module });
    if (values.module.length > 0) continue;
    await storeResult({ ...result, date: new Date().toISOString().slice(0, 10), suite: { version, revision }, commit });
    await writeDocument();
  }
} finally {
  await browser.close();
}
