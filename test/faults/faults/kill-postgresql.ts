import { eventually, type PostgresqlStage } from '../environments/environment.ts';
import type { Fault } from '../scenario.ts';

/** `kill -9` of all its processes; started again at once, it goes through what it had written down. */
export const killPostgresql: Fault<PostgresqlStage> = {
  name: 'kill-postgresql',
  title: '`kill -9` of PostgreSQL',
  async strike({ postgresql }) {
    const since = performance.now();
    await postgresql.kill();
    await eventually(() => postgresql.start(), 60);
    return { since };
  },
};

export const restartPostgresql: Fault<PostgresqlStage> = {
  name: 'restart-postgresql',
  title: 'restart of PostgreSQL (`pg_ctl restart -m fast`)',
  async strike({ postgresql }) {
    const since = performance.now();
    await postgresql.restart();
    return { since };
  },
};
