/**
 * `npm run schemathesis -- --seed 7 --max-examples 100` starts a server with the demonstration shop, and runs all checks of Schemathesis
 * against it. With `--url URL --email EMAIL`, and the password in `MANDATE_PASSWORD`, the program tests a running server as this
 * administrator, and changes and deletes data there. `--operation orders.create` tests only this operation. Without `--seed`, each run uses
 * a new seed.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { describeResult, runSchemathesis } from './run-schemathesis.ts';
import { startTestedServer, type TestedServer } from './tested-server.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    'max-examples': { type: 'string', default: '100' },
    phases: { type: 'string', default: 'examples,coverage,fuzzing,stateful' },
    operation: { type: 'string', multiple: true, default: [] },
    url: { type: 'string' },
    email: { type: 'string', default: 'admin@example.com' },
  },
});
const options = {
  seed: Number(values.seed ?? randomInt(2 ** 31)),
  maxExamples: Number(values['max-examples']),
  phases: values.phases.split(','),
  operations: values.operation,
  onOutput: (text: string): void => void process.stdout.write(text),
};
if (![options.seed, options.maxExamples].every((number) => Number.isSafeInteger(number) && number >= 0)) {
  process.stderr.write('usage: npm run schemathesis -- [--seed NUMBER] [--max-examples 100] [--operation ID] [--url URL --email EMAIL]\n');
  process.exit(2);
}

async function runWith(server: TestedServer): Promise<void> {
  const result = await runSchemathesis(server, options);
  process.stdout.write(`\n${describeResult(result)}\nseed ${options.seed}\n`);
  process.exitCode = result.failures.length === 0 ? 0 : 1;
}

if (values.url === undefined) {
  await using server = await startTestedServer();
  await runWith(server);
} else {
  // oxlint-disable-next-line node/no-process-env -- a password on the command line is visible to other users
  const administrator = { email: values.email, password: process.env['MANDATE_PASSWORD'] ?? '' };
  await runWith({ url: values.url, administrator });
}
