import { type ServerExit, runServerUntilExit, createDataDirectory } from './server-process.ts';

/** Runs a server that is expected to exit, and measures the time. */
export async function timeServerExit(env: Readonly<Record<string, string>>): Promise<ServerExit & { readonly seconds: number }> {
  await using data = await createDataDirectory();
  const started = performance.now();
  const exit = await runServerUntilExit({ MANDATE_DATA_DIR: data.path, ...env });
  return { ...exit, seconds: (performance.now() - started) / 1_000 };
}

/** Measures the load time of the program in seconds, with a start that fails at its first database connection. */
export const measureLoadSeconds = async (): Promise<number> =>
  (await timeServerExit({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATABASE_START_TIMEOUT: '0' })).seconds;
