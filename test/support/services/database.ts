import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { runAdminSql, databaseUrlOnServer } from './postgresql-databases.ts';
import { openMigratedPglite } from './reused-pglite.ts';

const provided = inject('database');

/** PGlite has one connection, so concurrency tests are skipped: `describe.skipIf(databaseKind === 'pglite')`. */
export const databaseKind = provided.kind;

/** Kinds of database for which tests start a server process. The embedded database is always available. */
export const serverDatabaseKinds = databaseKind === 'postgresql' ? (['postgresql', 'pglite'] as const) : (['pglite'] as const);

/** Creates an empty, migrated database, which the caller must close. */
export async function createMigratedDatabase(): Promise<Database> {
  if (provided.kind === 'postgresql') return openDatabaseWithoutMigrating(await createMigratedPostgresqlUrl());
  return openMigratedPglite(provided.template);
}

/** Creates an empty, migrated PostgreSQL database and returns its URL. Requires `databaseKind` to be `postgresql`. */
export async function createMigratedPostgresqlUrl(): Promise<string> {
  const { template } = postgresql();
  return createDatabase(`template ${template} strategy file_copy`);
}

/**
 * Returns the environment variables of a server process with an empty, migrated PostgreSQL database. Returns no variables if PostgreSQL is
 * not available. Without these variables, the server creates an embedded database, which takes several times longer.
 */
export const createDatabaseEnvironment = async (): Promise<{ DATABASE_URL?: string }> =>
  databaseKind === 'postgresql' ? { DATABASE_URL: await createMigratedPostgresqlUrl() } : {};

/** Creates a PostgreSQL database without running the migrations, and returns its URL. */
export async function createEmptyPostgresqlUrl(): Promise<string> {
  return createDatabase('');
}

async function createDatabase(templateOption: string): Promise<string> {
  const { url, template } = postgresql();
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  await runAdminSql(url, `create database ${name} ${templateOption}`);
  return databaseUrlOnServer(url, name);
}

function postgresql(): Extract<typeof provided, { kind: 'postgresql' }> {
  if (provided.kind !== 'postgresql') throw new Error('this test needs PostgreSQL: skip it on PGlite');
  return provided;
}
