import { expect } from 'vitest';
import { type ServerExit, runServerUntilExit, createDataDirectory } from './server-process.ts';

/** Runs a server that is expected to exit, and measures its run time. */
export async function timeServerExit(env: Readonly<Record<string, string>>): Promise<ServerExit & { readonly seconds: number }> {
  await using data = await createDataDirectory();
  const started = performance.now();
  const exit = await runServerUntilExit({ MANDATE_DATA_DIR: data.path, ...env });
  return { ...exit, seconds: (performance.now() - started) / 1_000 };
}

/**
 * Expects that a server exited within the time limit plus the time that this machine needs to load the program. If the server took longer
 * than the limit, measures the load time by starting a server that exits when its first database connection fails.
 */
export async function expectExitWithin(limitSeconds: number, { seconds }: { readonly seconds: number }): Promise<void> {
  if (seconds < limitSeconds) return;
  const load = await timeServerExit({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATABASE_START_TIMEOUT: '0' });
  expect(seconds).toBeLessThan(limitSeconds + load.seconds);
}
