import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PgliteConnection } from '@mikro-orm/pglite';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import { migrateAndOpenDatabase } from '../../server/schema/migrate-and-open-database.ts';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import { collectResponses } from './contract/collect-responses.ts';
import { runAdminSql, databaseUrlOnServer } from './services/postgresql-databases.ts';
import { findPostgresql, startPostgresql, type PostgresqlServer } from './services/postgresql-server.ts';
import { createServerDirectory } from './services/server-directory.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The template from which every test file clones its database: a database on the server at `url`, or a PGlite dump file. */
    database: { kind: 'postgresql'; url: string; template: string } | { kind: 'pglite'; template: string };
    /**
     * The directory for the migrated embedded database that tests of server processes copy. The first of these tests creates the database.
     */
    embeddedDatabases: string;
    /** The directory in which tests record received responses. */
    seenResponses: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Build the generated files first, because they are missing after `npm ci --ignore-scripts` and outdated after source changes.
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../build-ignored-files.js')]);
  const responses = await collectResponses(project);
  const removeDatabase = await prepareDatabase(project);
  const embeddedDatabases = await createServerDirectory();
  project.provide('embeddedDatabases', embeddedDatabases.path);
  return async () => {
    await Promise.all([removeDatabase(), embeddedDatabases.remove()]);
    await responses.checkCoverage();
  };
}

/** Prepares the migrated template database of a project. The project name selects PostgreSQL or PGlite. */
async function prepareDatabase(project: TestProject): Promise<() => Promise<void>> {
  if (project.name === 'pglite') return preparePglite(project);
  const url = process.env['DATABASE_URL'];
  if (url) return preparePostgresql(project, { url, stop: async () => undefined });
  const server = await findPostgresql()
    .then(startPostgresql)
    .catch((error: unknown) => {
      process.stderr.write(`PostgreSQL did not start, so these tests run on PGlite: ${String(error)}\n`);
    });
  return server ? preparePostgresql(project, server) : preparePglite(project);
}

async function preparePostgresql(
  project: TestProject,
  { url, stop }: Pick<PostgresqlServer, 'url' | 'stop'>,
): Promise<() => Promise<void>> {
  const template = `mandate_test_${randomBytes(4).toString('hex')}`;
  await runAdminSql(url, `create database ${template}`);
  await (await migrateAndOpenDatabase(databaseUrlOnServer(url, template))).close();
  project.provide('database', { kind: 'postgresql', url, template });
  return async () => {
    const created = await runAdminSql(url, `select datname from pg_database where datname ~ '^${template}'`);
    for (const { datname } of created) await runAdminSql(url, `drop database ${datname} with (force)`);
    await stop();
  };
}

async function preparePglite(project: TestProject): Promise<() => Promise<void>> {
  const db = await openDatabaseWithoutMigrating('memory://');
  await migrate(db);
  const connection = db.em.getConnection();
  if (!(connection instanceof PgliteConnection)) throw new Error('memory:// is PGlite');
  const dump = await (await connection.getNativeClient()).dumpDataDir('none');
  await db.close();
  const { path, remove } = await createServerDirectory();
  const template = join(path, 'template.tar');
  await writeFile(template, Buffer.from(await dump.arrayBuffer()));
  project.provide('database', { kind: 'pglite', template });
  return remove;
}
