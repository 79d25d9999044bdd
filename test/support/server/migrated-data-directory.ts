import { constants, existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { migrateAndOpenDatabase } from '../../../server/schema/migrate-and-open-database.ts';
import { createDataDirectory } from './server-process.ts';

/**
 * Creates a data directory that contains a migrated embedded database without data. The directory is removed on disposal. A server with
 * this directory creates its initial data as on its first start, but in a third of the time, because it neither creates nor migrates a
 * database.
 */
export async function createMigratedDataDirectory(): ReturnType<typeof createDataDirectory> {
  const directory = await createDataDirectory();
  await copyMigratedDatabase(directory.path);
  return directory;
}

/** Copies a migrated embedded database that contains no data into a data directory. */
export async function copyMigratedDatabase(dataDirectory: string): Promise<void> {
  const template = await findOrCreateTemplate(inject('embeddedDatabases'));
  // The template was closed after a checkpoint, so its files are complete and consistent.
  await cp(template, join(dataDirectory, 'database'), { recursive: true, mode: constants.COPYFILE_FICLONE });
}

/** Creates a data directory for a server on this kind of database. An embedded database is migrated and contains no data. */
export const createDataDirectoryFor = (kind: 'postgresql' | 'pglite'): ReturnType<typeof createDataDirectory> =>
  kind === 'pglite' ? createMigratedDataDirectory() : createDataDirectory();

/**
 * Returns the path of the template database, and creates the template if it does not exist. If two workers create a template at the same
 * time, only one of the two is kept.
 */
async function findOrCreateTemplate(parent: string): Promise<string> {
  const template = join(parent, 'template');
  if (existsSync(template)) return template;
  const draft = await mkdtemp(join(parent, 'draft-'));
  const database = await migrateAndOpenDatabase(join(draft, 'database'));
  await database.close();
  await rename(join(draft, 'database'), template).catch((error: NodeJS.ErrnoException) => {
    if (!existsSync(template)) throw error;
  });
  await rm(draft, { recursive: true });
  return template;
}
