/**
 * `npm run mutation -- --mutants 60 --seed 7` makes small changes to `server/`, one at a time, and counts those that the tests detect. Each
 * change is first checked by the compiler, then tested with the most closely related test files, and then with more files while time
 * remains (`--minutes`, default: 20).
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { randomSeed } from '../fuzz/fuzz.ts';
import { drawMutants, listMutants } from './mutants.ts';
import { printResult, printScore } from './report.ts';
import { testMutants } from './test-mutants.ts';

const root = join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: { mutants: { type: 'string', default: '60' }, seed: { type: 'string' }, minutes: { type: 'string', default: '20' } },
});
const [count, seed, minutes] = [Number(values.mutants), Number(values.seed ?? randomSeed()), Number(values.minutes)];
if (![count, seed].every((number) => Number.isSafeInteger(number) && number >= 0) || !(minutes > 0)) {
  process.stderr.write('usage: npm run mutation -- [--mutants 60] [--seed NUMBER] [--minutes 20]\n');
  process.exit(2);
}

const all = await listMutants(root);
const sample = drawMutants(all, count, seed);
process.stdout.write(`seed ${seed}: ${sample.length} of ${all.length} mutants\n`);
const results = await testMutants(root, sample, {
  workers: Math.min(2, availableParallelism()),
  minutes,
  onResult: (result) => void process.stdout.write(printResult(result)),
});
process.stdout.write(printScore(results, seed));
