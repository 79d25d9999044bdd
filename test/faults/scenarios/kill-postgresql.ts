import { retryFor, type PostgresqlEnvironment } from '../environments/environment.ts';
import type { Fault } from './scenario.ts';

/** Kills all PostgreSQL processes and restarts PostgreSQL immediately, so that it recovers from its WAL. */
export const killPostgresql: Fault<PostgresqlEnvironment> = {
  name: 'kill-postgresql',
  title: '`kill -9` of PostgreSQL',
  async inject({ postgresql }) {
    const since = performance.now();
    await postgresql.kill();
    await retryFor(() => postgresql.start(), 60);
    return { since };
  },
};

export const restartPostgresql: Fault<PostgresqlEnvironment> = {
  name: 'restart-postgresql',
  title: 'restart of PostgreSQL (`pg_ctl restart -m fast`)',
  async inject({ postgresql }) {
    const since = performance.now();
    await postgresql.restart();
    return { since };
  },
};
