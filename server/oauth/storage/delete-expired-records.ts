import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';

/** So many at a time that nobody waits for it: what a request holds is passed over and comes up again. */
const batch = 1_000;

// A spent code or token stays until its own end, and a spent code until that of its grant (postgres-adapter.ts): reuse is noticed until then.
const sweep = statement<{ id: string }>(
  'sweep_oauth_records',
  `delete from oauth_records where (model, id) in
     (select model, id from oauth_records where expires_at < $1 order by expires_at limit ${batch} for update skip locked)
   returning id`,
);

/** Forgets one batch of what has expired; how many that were. Call it again while there are more. */
export const sweepOauthRecords = async (em: Em, now: Date): Promise<number> => (await sweep(em, [now])).length;
