import { eventRetentionDays } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';

const batchMax = 1_000;

// Deletes in sequence order, so that the remaining events have no gaps. A concurrent reader sees all events of a batch or none.
const deleteBatch = prepareStatement<{ count: number }>(
  'delete_old_events',
  `with oldest as (select id, seq, created_at from events where seq is not null order by seq limit ${batchMax}),
        gone as (delete from events e using oldest o
                  where e.id = o.id and o.created_at < $1::timestamptz - interval '${eventRetentionDays} days' returning e.seq),
        noted as (update event_sequence set swept_seq = greatest(swept_seq, (select max(seq) from gone))
                   where exists (select 1 from gone))
   select count(*) as count from gone`,
);

/**
 * Deletes one batch of expired events with their deliveries, and returns the number of events. Call this function again until it returns 0.
 */
export const deleteOldEvents = async (em: EntityManager, now: Date): Promise<number> => (await deleteBatch(em, [now]))[0]?.count ?? 0;
