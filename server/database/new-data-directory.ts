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
  const { PGlite } = await import('@electric-sql/pglite');
  const draft = `${directory}.new`;
  await rm(draft, { recursive: true, force: true });
  const database = await PGlite.create(draft);
  await database.close();
  await rename(draft, directory);
}
