import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { inject } from 'vitest';
import { openDatabase } from '../../../server/schema/open-database.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { administer, databaseUrl } from './postgresql-databases.ts';

const provided = inject('database');

/** PGlite has one connection, so races do not show on it: `describe.skipIf(databaseKind === 'pglite')`. */
export const databaseKind = provided.kind;

/** Databases for a server in a process of its own, which can always use the embedded one. */
export const serverDatabases = databaseKind === 'postgresql' ? (['postgresql', 'pglite'] as const) : (['pglite'] as const);

/** A migrated, empty database that nobody else has. Close it in the end. */
export async function freshDatabase(): Promise<Database> {
  if (provided.kind === 'postgresql') return openDatabase(await freshPostgresqlUrl());
  return openDatabase('memory://', { template: new Blob([await readFile(provided.template)]) });
}

/** The same for another process to open; only where `databaseKind` is `postgresql`. */
export async function freshPostgresqlUrl(): Promise<string> {
  const { template } = postgresql();
  return createDatabase(`template ${template} strategy file_copy`);
}

/** Not even migrated. */
export async function emptyPostgresqlUrl(): Promise<string> {
  return createDatabase('');
}

async function createDatabase(from: string): Promise<string> {
  const { url, template } = postgresql();
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  await administer(url, `create database ${name} ${from}`);
  return databaseUrl(url, name);
}

function postgresql(): Extract<typeof provided, { kind: 'postgresql' }> {
  if (provided.kind !== 'postgresql') throw new Error('this test needs PostgreSQL: skip it on PGlite');
  return provided;
}
