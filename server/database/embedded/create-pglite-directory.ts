import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

export const isNewPgliteDirectory = (directory: string): boolean => !existsSync(join(directory, 'PG_VERSION'));

/**
 * Creates the directory of a new embedded database. PGlite unpacks the database file by file, and an interrupted process would leave a
 * database that cannot be opened. Therefore, the database is created in a temporary directory, which is renamed when complete.
 */
export async function createPgliteDirectoryIfNew(directory: string): Promise<void> {
  if (!isNewPgliteDirectory(directory)) return;
  const temporaryDirectory = `${directory}.new`;
  await rm(temporaryDirectory, { recursive: true, force: true });
  const childProcess = fork(new URL('create-pglite-directory-process.ts', import.meta.url), [temporaryDirectory], {
    execArgv: [],
    env: {},
  });
  const exit: readonly unknown[] = await once(childProcess, 'exit');
  if (exit[0] !== 0) throw new Error(`${directory} could not be created; the reason is written above`);
  await rename(temporaryDirectory, directory);
}
