/**
 * `npm run faults -- --fault kill-server --times 10`: lets faults happen to real servers under load, compares what was confirmed with
 * what there is afterwards, and prints a table in Markdown. Without `--fault` all of them, one after the other; `--fault` can be given
 * more than once. `--seconds`: how long each goes on at least (the soak: altogether).
 */
import { parseArgs } from 'node:util';
import { endServerProcesses } from '../support/server-process.ts';
import { everyPerformance, type Performance } from './every-scene.ts';
import { complaints, tableHead, tableRow } from './report.ts';

const { values } = parseArgs({
  options: { fault: { type: 'string', multiple: true }, times: { type: 'string', default: '5' }, seconds: { type: 'string' } },
});

const names = everyPerformance.map(({ name }) => name);
const wanted = values.fault ?? names;
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no fault called ${unknown.join(', ')}. There are: ${names.join(', ')}.\n`);
  process.exitCode = 2;
} else {
  process.stdout.write(`${tableHead}\n`);
  for (const one of everyPerformance) if (wanted.includes(one.name)) await perform(one);
}

async function perform({ name, missing, play }: Performance): Promise<void> {
  const reason = missing();
  if (reason !== undefined) return void process.stderr.write(`${name} is left out: ${reason}\n`);
  const onProgress = (done: number): void => void process.stderr.write(`${name}: ${done}\n`);
  const seconds = values.seconds === undefined ? {} : { seconds: Number(values.seconds) };
  try {
    const outcome = await play({ times: Number(values.times), ...seconds, onProgress });
    process.stdout.write(`${tableRow(outcome)}\n`);
    for (const complaint of complaints(outcome)) process.stderr.write(`${name}: ${complaint}\n`);
    if (complaints(outcome).length > 0) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(
      `${name} could not be played to its end: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = 1;
  } finally {
    endServerProcesses();
  }
}
