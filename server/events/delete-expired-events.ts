import { sql } from '@mikro-orm/core';
import { eventRetentionDays } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Event, EventSequenceCounter } from './event-and-sequence-counter.entity.ts';

const batchMax = 1_000;
const retentionMs = eventRetentionDays * 24 * 60 * 60_000;

/**
 * Deletes one batch of expired events with their deliveries, and returns the number of deleted events. Call this function again until it
 * returns 0.
 */
export const deleteExpiredEventsBatch = (em: EntityManager, now: Date): Promise<number> =>
  em.transactional((inner) => deleteBatch(inner, now));

/**
 * Deletes the events in sequence order, so that there are no gaps between the remaining events. A concurrent reader sees all events of a
 * batch or none.
 */
async function deleteBatch(em: EntityManager, now: Date): Promise<number> {
  const options = { fields: ['seq', 'createdAt'], orderBy: { seq: 'asc' }, limit: batchMax, disableIdentityMap: true } as const;
  const oldest = await em.find(Event, { seq: { $ne: null } }, options);
  const expired = oldest.filter(({ createdAt }) => createdAt.getTime() < now.getTime() - retentionMs);
  const deleted = await em.nativeDelete(Event, { id: { $in: expired.map(({ id }) => id) } });
  if (deleted === 0) return 0;
  const sweptSeq = Math.max(...expired.map(({ seq }) => seq ?? 0));
  const values = { sweptSeq: sql`greatest(swept_seq, ${sweptSeq})` };
  await em.nativeUpdate(EventSequenceCounter, { id: 1 }, values);
  return deleted;
}
