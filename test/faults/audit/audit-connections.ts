import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Findings } from './violations.ts';
import { PostgresqlStage, type Stage } from '../environments/environment.ts';

/** The pool of one server. */
const connectionsMax = 10;
const counts = z.object({ total: z.coerce.number(), open: z.coerce.number() });
const ofServers = `
  select count(*)::int as total, count(*) filter (where state like 'idle in transaction%')::int as open
    from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** When nothing is asked, no transaction stays open, and no server has more connections than it may. */
export async function auditConnections(stage: Stage, findings: Findings): Promise<void> {
  if (!(stage instanceof PostgresqlStage)) return;
  const most = connectionsMax * stage.servers.length;
  let [total, open] = [0, 0];
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(200)) {
    ({ total, open } = counts.parse((await stage.sql(ofServers))[0]));
    if (open === 0 && total <= most) return;
  }
  findings.unexpected.push(`${total} connections (at most ${most}), ${open} of them in a transaction, long after the last request`);
}
