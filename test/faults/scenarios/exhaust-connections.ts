import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Fault } from './scenario.ts';
import type { PostgresqlEnvironment } from '../environments/environment.ts';

/** Duration for which other clients hold all connections. */
const exhaustionMs = 1_500;

const terminateConnectionsSql = `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** Closes the servers' connections to PostgreSQL, and lets other clients take all connections. */
export const exhaustConnections: Fault<PostgresqlEnvironment> = {
  name: 'exhaust-connections',
  title: 'other clients take all PostgreSQL connections for 1.5 s',
  async inject({ postgresql: { url } }, { load }) {
    const administrator = new Client(url);
    await administrator.connect();
    const others: Client[] = [];
    const refused = load.ledger.statuses.get(503) ?? 0;
    await administrator.query(terminateConnectionsSql);
    // opens connections in parallel, and therefore faster than the servers, which connect on demand
    for (const end = performance.now() + exhaustionMs; performance.now() < end; await sleep(10)) {
      await Promise.all(Array.from({ length: 10 }, () => openConnection(url, others)));
    }
    const note = `${others.length} connections taken, ${(load.ledger.statuses.get(503) ?? 0) - refused} responses with status 503`;
    const since = performance.now();
    await Promise.all([administrator, ...others].map((client) => client.end()));
    return { since, note };
  },
};

async function openConnection(url: string, taken: Client[]): Promise<void> {
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect().then(
    () => taken.push(client),
    () => undefined, // no connection is available
  );
}
