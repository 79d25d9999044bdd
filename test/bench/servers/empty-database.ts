import { randomBytes } from 'node:crypto';
import { runAdminSql, databaseUrlOnServer } from '../../support/services/postgresql-databases.ts';
import { findPostgresql, startPostgresql } from '../../support/services/postgresql-server.ts';
import { postgresqlCpuSeconds } from './cpu-time.ts';

/** An empty database for this benchmark run. */
export type EmptyDatabase = {
  readonly url: string;
  /** CPU time that the PostgreSQL server has used so far, in seconds; undefined for a remote server. */
  readonly cpuSeconds: (() => Promise<number>) | undefined;
  readonly remove: () => Promise<void>;
};

/**
 * Creates a database on a new PostgreSQL server, or on the server at `DATABASE_URL`.
 * @param settings settings of a new server, as in `postgresql.conf`
 */
export async function createEmptyDatabase(settings: readonly string[] = []): Promise<EmptyDatabase> {
  // oxlint-disable-next-line node/no-process-env -- the server uses the same variable, so that both use the same PostgreSQL server
  const given = process.env['DATABASE_URL'];
  if (given !== undefined && given !== '') {
    const name = `mandate_bench_${randomBytes(6).toString('hex')}`;
    await runAdminSql(given, `create database ${name}`);
    const remove = async (): Promise<void> => void (await runAdminSql(given, `drop database ${name} with (force)`));
    return { url: databaseUrlOnServer(given, name), cpuSeconds: undefined, remove };
  }
  const server = await startPostgresql(await findPostgresql(), { settings });
  return { url: server.url, cpuSeconds: () => postgresqlCpuSeconds(server.dataDirectory), remove: server.stop };
}
