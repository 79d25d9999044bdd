import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Findings } from './findings.ts';
import { PostgresqlEnvironment, type FaultEnvironment } from '../environments/environment.ts';

/** Connection pool size of each server. */
const connectionsMax = 10;
const counts = z.object({ total: z.coerce.number(), open: z.coerce.number() });
const clientConnectionsSql = `
  select count(*)::int as total, count(*) filter (where state like 'idle in transaction%')::int as open
    from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** Checks that no transaction is open in an idle system, and that no server exceeds its connection limit. */
export async function auditConnections(environment: FaultEnvironment, findings: Findings): Promise<void> {
  if (!(environment instanceof PostgresqlEnvironment)) return;
  const most = connectionsMax * environment.servers.length;
  let [total, open] = [0, 0];
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(200)) {
    ({ total, open } = counts.parse((await environment.sql(clientConnectionsSql))[0]));
    if (open === 0 && total <= most) return;
  }
  findings.unexpected.push(`${total} connections (maximum: ${most}), ${open} of them in a transaction, 20 s after the last request`);
}
