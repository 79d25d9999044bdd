/**
 * Runs the tests that must detect the faults, in one process, with the faults planted in the modules as they are loaded. Each test runs
 * first with its fault and, if it fails, again without the fault. The command-line argument is a `TestRunInput` in JSON format.
 */
import { join } from 'node:path';
import type { ProvidedContext } from 'vitest';
import { startVitest } from 'vitest/node';
import { faults, plantFaults } from './faults.ts';

export type TestRunInput = {
  readonly provide: Pick<ProvidedContext, 'database' | 'seenResponses'>;
  /** File to which the JSON reporter writes the results. */
  readonly report: string;
};

const root = join(import.meta.dirname, '../../../..');
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test that starts this program passes this type
const { provide, report } = JSON.parse(process.argv[2] ?? '') as TestRunInput;
const all = Object.values(faults);

const vitest = await startVitest(
  [],
  {
    root,
    config: false,
    watch: false,
    include: [...new Set(all.map(({ tests }) => tests))],
    testNamePattern: all.map(({ titles }) => `(?:${titles})`).join('|'),
    setupFiles: [join(root, 'test/support/setup-test-file.ts'), join(import.meta.dirname, 'setup-test-file.ts')],
    provide,
    isolate: false,
    maxWorkers: 1,
    // Only the first attempt runs with the fault. The second attempt runs without the fault, and a third attempt may be needed on a busy
    // machine.
    retry: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    reporters: [['json', { outputFile: report }]],
  },
  { plugins: [{ name: 'plant-faults', enforce: 'pre', transform: (source, id) => plantFaults(id, source) }] },
);
await vitest.close();
