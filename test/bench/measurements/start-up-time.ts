import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startMeasuredServer } from '../servers/measured-server.ts';
import type { Check } from './check.ts';
import { median } from './run-load.ts';

/**
 * Measures the time from process start to the first response with status 200, on the embedded database, for the first start and for later
 * starts.
 */
export async function measureStart(directory: string, repeats: number, report: (progress: string) => void): Promise<Check[]> {
  const data = join(directory, 'first-start');
  const env = { NODE_ENV: 'development', MANDATE_DATA_DIR: data };
  const start = async (): Promise<number> => {
    const begun = performance.now();
    const server = await startMeasuredServer(join(import.meta.dirname, '../../../server/main.ts'), env, join(directory, 'first-start.log'));
    const ms = performance.now() - begun;
    await server.stop();
    return ms;
  };
  report('start: first, on the embedded database');
  const first = await start();
  report('start: with data');
  const later: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) later.push(await start());
  await rm(data, { recursive: true });
  return [
    { name: 'first-start', title: 'first start to first 200, on PGlite', value: first, unit: 'ms', goal: { atMost: 8_000 }, parts: {} },
    {
      name: 'start',
      title: 'start with data to first 200, on PGlite',
      value: median(later),
      unit: 'ms',
      goal: { atMost: 1_500 },
      parts: {},
    },
  ];
}
