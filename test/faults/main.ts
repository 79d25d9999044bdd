/**
 * `npm run faults -- --fault kill-server --times 10` injects faults into real servers under load, compares the confirmed writes with
 * the state afterwards, and prints a Markdown table. Without `--fault`, all faults run one after another. `--fault` can be repeated
 * and accepts name prefixes: `--fault patroni` selects `patroni-leader` and `patroni-switchover`.
 * `--seconds` sets the minimum duration of each fault and the total duration of the soak test.
 */
import { parseArgs } from 'node:util';
import { killServerProcesses } from '../support/server/server-process.ts';
import { allFaults, type RunnableFault } from './all-scenarios.ts';
import { violationLines, tableHead, tableRow } from './report.ts';

const { values } = parseArgs({
  options: { fault: { type: 'string', multiple: true }, times: { type: 'string', default: '5' }, seconds: { type: 'string' } },
});

let failed = false;
const names = allFaults.map(({ name }) => name);
const wanted = values.fault ?? names;
const isNamedBy = (name: string, word: string): boolean => name === word || name.startsWith(`${word}-`);
const unknown = wanted.filter((word) => !names.some((name) => isNamedBy(name, word)));
if (unknown.length > 0) {
  process.stderr.write(`Unknown fault: ${unknown.join(', ')}. Available faults: ${names.join(', ')}.\n`);
  process.exitCode = 2;
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void exit(130));
  process.stdout.write(`${tableHead}\n`);
  const selected = allFaults.filter(({ name }) => wanted.some((word) => isNamedBy(name, word)));
  for (const [nth, one] of selected.entries()) {
    const completed = await runAndReport(one);
    if (!completed || selected[nth + 1]?.close !== one.close) await one.close();
  }
  await exit(failed ? 1 : 0); // exit explicitly, because an environment that failed to start may have left open handles
}

async function exit(code: number): Promise<never> {
  await killServerProcesses();
  process.exit(code);
}

/** Returns false if an error ended the run early. The state of the environment is then unknown. */
async function runAndReport({ name, missing, run }: RunnableFault): Promise<boolean> {
  const reason = missing();
  if (reason !== undefined) {
    process.stderr.write(`${name} is skipped: ${reason}\n`);
    return true;
  }
  const onProgress = (done: number): void => void process.stderr.write(`${name}: ${done}\n`);
  const seconds = values.seconds === undefined ? {} : { seconds: Number(values.seconds) };
  try {
    const outcome = await run({ times: Number(values.times), ...seconds, onProgress });
    process.stdout.write(`${tableRow(outcome)}\n`);
    for (const line of violationLines(outcome)) process.stderr.write(`${name}: ${line}\n`);
    if (violationLines(outcome).length > 0) failed = true;
    return true;
  } catch (error) {
    process.stderr.write(`${name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    failed = true;
    return false;
  }
}
