import { eventDays } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';

const batch = 1_000;

// In the order of their places, so that what is kept has no holes. Whoever reads meanwhile sees all of a batch or nothing of it.
const sweep = statement<{ count: number }>(
  'sweep_events',
  `with oldest as (select id, seq, created_at from events where seq is not null order by seq limit ${batch}),
        gone as (delete from events e using oldest o
                  where e.id = o.id and o.created_at < $1::timestamptz - interval '${eventDays} days' returning e.seq),
        noted as (update event_sequence set swept_seq = greatest(swept_seq, (select max(seq) from gone))
                   where exists (select 1 from gone))
   select count(*) as count from gone`,
);

/** Forgets one batch of the events that are kept no longer, and their deliveries with them; how many those were. Call it again while there are more. */
export const sweepEvents = async (em: Em, now: Date): Promise<number> => (await sweep(em, [now]))[0]?.count ?? 0;
