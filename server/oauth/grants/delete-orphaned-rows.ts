import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';

const batch = 1_000;
const dayMs = 24 * 60 * 60 * 1000;

// What is younger may be on its way: a browser is noted before its session is kept.
const sweeps = [
  statement<{ gone: number }>(
    'sweep_connections',
    `delete from connections where id in
       (select c.id from connections c where coalesce(c.last_used_at, c.created_at) < $1
         and not exists (select 1 from oauth_records g where g.model = 'Grant' and g.id = c.grant_id) limit ${batch})
     returning 1 as gone`,
  ),
  statement<{ gone: number }>(
    'sweep_browser_sessions',
    `delete from browser_sessions where uid in
       (select b.uid from browser_sessions b where b.last_used_at < $1
         and not exists (select 1 from oauth_records s where s.model = 'Session' and s.uid = b.uid) limit ${batch})
     returning 1 as gone`,
  ),
];

/** Forgets on which devices somebody had allowed something that is over, and in which browsers they were signed in. How many that were. */
export async function sweepTraces(em: Em, now: Date): Promise<number> {
  const before = new Date(now.getTime() - dayMs);
  let swept = 0;
  for (const sweep of sweeps) {
    for (let gone = batch; gone === batch; swept += gone) gone = (await sweep(em, [before])).length;
  }
  return swept;
}
