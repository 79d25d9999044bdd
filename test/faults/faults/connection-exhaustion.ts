import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Fault } from '../scenario.ts';
import type { PostgresqlStage } from '../environments/environment.ts';

/** How long others hold every connection. */
const heldMs = 1_500;

const endOthers = `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** Others take every connection that PostgreSQL gives, those of the servers included. */
export const exhaustConnections: Fault<PostgresqlStage> = {
  name: 'exhaust-connections',
  title: 'others take every connection of PostgreSQL for 1.5 s',
  async strike({ postgresql: { url } }, { load }) {
    const administrator = new Client(url);
    await administrator.connect();
    const others: Client[] = [];
    const refused = load.ledger.statuses.get(503) ?? 0;
    await administrator.query(endOthers);
    // all at once, and faster than the servers, which take one when they need it
    for (const end = performance.now() + heldMs; performance.now() < end; await sleep(10)) {
      await Promise.all(Array.from({ length: 10 }, () => take(url, others)));
    }
    const note = `${others.length} taken, meanwhile ${(load.ledger.statuses.get(503) ?? 0) - refused} answers of 503`;
    const since = performance.now();
    await Promise.all([administrator, ...others].map((client) => client.end()));
    return { since, note };
  },
};

async function take(url: string, taken: Client[]): Promise<void> {
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect().then(
    () => taken.push(client),
    () => undefined, // there is none
  );
}
