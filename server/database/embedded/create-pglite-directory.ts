import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

export const isNewDataDirectory = (directory: string): boolean => !existsSync(join(directory, 'PG_VERSION'));

/**
 * Makes the directory of an embedded database that there is not yet. PGlite unpacks a new database file by file, and a
 * process killed meanwhile would leave something that never opens again: so it is made beside, and moved when it is whole.
 */
export async function makeDataDirectory(directory: string): Promise<void> {
  if (!isNewDataDirectory(directory)) return;
  const draft = `${directory}.new`;
  await rm(draft, { recursive: true, force: true });
  const creation = fork(new URL('create-pglite-directory-process.ts', import.meta.url), [draft], { execArgv: [], env: {} });
  const exit: readonly unknown[] = await once(creation, 'exit');
  if (exit[0] !== 0) throw new Error(`${directory} could not be created; the reason is written above`);
  await rename(draft, directory);
}
