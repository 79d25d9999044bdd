import { join } from 'node:path';
import { startCandidate } from './candidate.ts';

export type Starts = { readonly firstMs: number; readonly laterMs: number };

/** From the start of the process to its first 200, on the embedded database: the first start of all, then with the data that is there. */
export async function measureStart(directory: string, report: (doing: string) => void): Promise<Starts> {
  const env = { NODE_ENV: 'development', MANDATE_DATA_DIR: join(directory, 'embedded') };
  const start = async (): Promise<number> => {
    const begun = performance.now();
    const server = await startCandidate(join(import.meta.dirname, '../../server/main.ts'), env, join(directory, 'embedded.log'));
    const ms = performance.now() - begun;
    await server.stop();
    return ms;
  };
  report('first start on the embedded database');
  const firstMs = await start();
  report('starts with data');
  const later = [await start(), await start(), await start()].toSorted((a, b) => a - b);
  return { firstMs, laterMs: later[1] ?? 0 };
}
