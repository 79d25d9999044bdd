import { join } from 'node:path';
import { repositoryRoot } from '../support/markdown.ts';
import { conformancePlans, type ConformancePlan } from './conformance-plans.ts';
import type { PlanResult } from './plan-results.ts';
import { plansNotRun, remarkOf } from './remarks.ts';

export const conformanceDocument = join(repositoryRoot, 'docs/conformance.md');

const heading = '## OpenID conformance suite';

/** Replaces the section about the suite in the document. @throws if the document has no such section */
export function replaceSuiteSection(document: string, results: readonly PlanResult[]): string {
  const [before, after, ...others] = document.split(`\n${heading}\n`);
  if (before === undefined || after === undefined || others.length > 0) throw new Error(`the document needs one section: ${heading}`);
  const next = after.search(/^## /m);
  return `${before}\n${renderSuiteSection(results)}${next === -1 ? '' : `\n${after.slice(next)}`}`;
}

/** Renders the section about the suite: a summary, the modules of each plan, and the plans that were not run. */
export function renderSuiteSection(results: readonly PlanResult[]): string {
  const runs = conformancePlans.flatMap((plan) => results.filter((result) => result.plan === plan.id).map((result) => ({ plan, result })));
  const withoutResult = conformancePlans.filter(({ id }) => !results.some(({ plan }) => plan === id));
  return [
    heading,
    '',
    introduction,
    '',
    '| plan | passed | review | warning | skipped | failed | date | suite | commit |',
    '|---|---|---|---|---|---|---|---|---|',
    ...runs.map(({ plan, result }) => summaryRow(plan, result)),
    '',
    meanings,
    ...runs.flatMap(({ plan, result }) => moduleTable(plan, result)),
    '',
    '### Plans that were not run',
    '',
    ...withoutResult.map(({ title, id }) => `- ${title} (\`${id}\`): there is no stored result.`),
    ...plansNotRun.map(({ plan, reason }) => `- ${plan}: ${reason}`),
    '',
  ].join('\n');
}

const introduction = `The [conformance suite](https://github.com/openid-certification/conformance-suite) of the OpenID Foundation is the basis of OpenID certification. \`npm run conformance\` starts this server with TLS and the embedded database, registers the applications for each plan through the API, runs the plans through the API of a running suite, and completes the browser steps in headless Chromium. The suite itself is not part of this repository. It needs a JDK, a MongoDB-compatible database, and a proxy that terminates TLS and reports the TLS version, such as nginx with the settings in the suite's repository; its front end is not needed. For the runs below, 17 classes of the suite were replaced by stubs: these classes process mdoc credentials, which no plan uses, and need a library that is not on Maven Central. \`NODE_EXTRA_CA_CERTS\` names the file with the suite's certificate. The server under test also trusts this certificate, so that it can send logout tokens to the suite:

\`\`\`sh
NODE_EXTRA_CA_CERTS=suite.pem npm run conformance -- --suite https://localhost:8443
\`\`\`

\`--plan NAME\` runs the plan with this ID, or all variants of the plan with this name. \`--parallel 4\` runs four plans at the same time. This command generates this section from the results; the plans are in \`test/conformance/conformance-plans.ts\`, and their configuration is in \`test/conformance/plan-configuration.ts\`.`;

const meanings = `"Review" means that the suite found no fault, but a person must check a screenshot that the test program uploads. A "Warning" result does not prevent certification. "Skipped" means that, according to the server's metadata, the module does not apply.`;

const columns = ['PASSED', 'REVIEW', 'WARNING', 'SKIPPED'] as const;

function summaryRow({ title, id }: ConformancePlan, { modules, date, suite, commit }: PlanResult): string {
  const count = (accepts: (result: string) => boolean): number => modules.filter(({ result }) => accepts(result)).length;
  const counts = columns.map((column) => count((result) => result === column));
  const failed = count((result) => !columns.some((column) => column === result));
  const cells = [`${title} (\`${id}\`)`, ...counts, failed, date, `${suite.version} (\`${suite.revision}\`)`, `\`${commit}\``];
  return `| ${cells.join(' | ')} |`;
}

const moduleTable = ({ id, title, variant, omittedModules = {} }: ConformancePlan, { modules }: PlanResult): string[] => [
  '',
  `### ${title}`,
  '',
  `\`npm run conformance -- --suite URL --plan ${id}\``,
  ...describeVariant(variant),
  '',
  '| module | result | remark |',
  '|---|---|---|',
  ...modules.map(({ module, result }) => `| \`${module}\` | ${result.toLowerCase()} | ${result === 'PASSED' ? '' : remarkOf(module)} |`),
  ...Object.entries(omittedModules).map(([module, reason]) => `| \`${module}\` | not run | ${reason} |`),
];

function describeVariant(variant: ConformancePlan['variant']): string[] {
  const settings = Object.entries(variant).map(([name, value]) => `\`${name}=${value}\``);
  return settings.length === 0 ? [] : ['', `Variant: ${settings.join(', ')}`];
}
