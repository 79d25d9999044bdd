/**
 * `npm run faults -- --fault kill-server --times 10`: lets faults happen to real servers under load, compares what was confirmed with
 * what there is afterwards, and prints a table in Markdown. Without `--fault` all of them, one after the other; `--fault` can be given
 * more than once, and also names all faults that begin with its words: `--fault patroni` is `patroni-leader` and `patroni-switchover`.
 * `--seconds`: how long each goes on at least (the soak: altogether).
 */
import { parseArgs } from 'node:util';
import { endServerProcesses } from '../support/server/server-process.ts';
import { everyPerformance, type Performance } from './all-scenarios.ts';
import { complaints, tableHead, tableRow } from './report.ts';

const { values } = parseArgs({
  options: { fault: { type: 'string', multiple: true }, times: { type: 'string', default: '5' }, seconds: { type: 'string' } },
});

let failed = false;
const names = everyPerformance.map(({ name }) => name);
const wanted = values.fault ?? names;
const isNamedBy = (name: string, word: string): boolean => name === word || name.startsWith(`${word}-`);
const unknown = wanted.filter((word) => !names.some((name) => isNamedBy(name, word)));
if (unknown.length > 0) {
  process.stderr.write(`There is no fault called ${unknown.join(', ')}. There are: ${names.join(', ')}.\n`);
  process.exitCode = 2;
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leave(130));
  process.stdout.write(`${tableHead}\n`);
  const program = everyPerformance.filter(({ name }) => wanted.some((word) => isNamedBy(name, word)));
  for (const [nth, one] of program.entries()) {
    const went = await perform(one);
    if (!went || program[nth + 1]?.close !== one.close) await one.close();
  }
  leave(failed ? 1 : 0); // a stage that could not be opened may have left something open
}

function leave(code: number): never {
  endServerProcesses();
  process.exit(code);
}

/** Whether it came to its end; otherwise nobody knows what state the stage is in. */
async function perform({ name, missing, play }: Performance): Promise<boolean> {
  const reason = missing();
  if (reason !== undefined) {
    process.stderr.write(`${name} is left out: ${reason}\n`);
    return true;
  }
  const onProgress = (done: number): void => void process.stderr.write(`${name}: ${done}\n`);
  const seconds = values.seconds === undefined ? {} : { seconds: Number(values.seconds) };
  try {
    const outcome = await play({ times: Number(values.times), ...seconds, onProgress });
    process.stdout.write(`${tableRow(outcome)}\n`);
    for (const complaint of complaints(outcome)) process.stderr.write(`${name}: ${complaint}\n`);
    if (complaints(outcome).length > 0) failed = true;
    return true;
  } catch (error) {
    process.stderr.write(
      `${name} could not be played to its end: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    failed = true;
    return false;
  }
}
