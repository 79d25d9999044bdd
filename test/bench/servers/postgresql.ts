import { randomBytes } from 'node:crypto';
import { administer, databaseUrl } from '../../support/services/postgresql-databases.ts';
import { findPostgresql, startPostgresql } from '../../support/services/postgresql-server.ts';
import { postgresqlSeconds } from '../measurements/cpu-time.ts';

/** An empty database for this run. */
export type EmptyDatabase = {
  readonly url: string;
  /** Seconds of processor time that its server has used so far; where that is somewhere else, nobody knows. */
  readonly cpuSeconds: (() => Promise<number>) | undefined;
  readonly remove: () => Promise<void>;
};

/** On a PostgreSQL that is started for it, or on the one that `DATABASE_URL` names. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  // oxlint-disable-next-line node/no-process-env -- the same variable as the server's, so that both can be tried on the same PostgreSQL
  const given = process.env['DATABASE_URL'];
  if (given !== undefined && given !== '') {
    const name = `mandate_bench_${randomBytes(6).toString('hex')}`;
    await administer(given, `create database ${name}`);
    const remove = async (): Promise<void> => void (await administer(given, `drop database ${name} with (force)`));
    return { url: databaseUrl(given, name), cpuSeconds: undefined, remove };
  }
  const server = await startPostgresql(await findPostgresql());
  return { url: server.url, cpuSeconds: () => postgresqlSeconds(server.data), remove: server.stop };
}
