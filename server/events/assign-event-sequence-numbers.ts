import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { countEntitiesUpToMaxPlusOne } from '../database/queries/count-rows-up-to-limit.sql.ts';
import { assignSequenceNumberBatch } from './assign-event-sequence-numbers.sql.ts';
import { Event, EventSequenceCounter } from './event-and-sequence-counter.entity.ts';
import { notifyOtherProcessesOnCommit } from './signal-events-between-processes.ts';
import { getEventSignalsOfDatabase } from './event-signals.ts';

/** Maximum number of events per transaction. The number is small, so that other processes wait only briefly for the sequence row. */
const batchMax = 1_000;

/** Called in the transaction that assigns sequence numbers to events, with the first and the last number. */
export type OnSequenced = (em: EntityManager, first: number, last: number) => Promise<void>;

/**
 * Assigns gapless sequence numbers to all committed events and returns the number of events. Numbers are assigned in order and after the
 * commit, so a reader at number N never misses an earlier event. By contrast, row IDs are assigned before the commit and can become visible
 * out of order.
 */
export async function assignEventSequenceNumbers(em: EntityManager, onPlaced: OnSequenced = () => Promise.resolve()): Promise<number> {
  let total = 0;
  for (let count = batchMax; count === batchMax; total += count) {
    const unsequencedCount = await countEntitiesUpToMaxPlusOne(
      em,
      em.createQueryBuilder(Event).select('id').where({ seq: null }),
      batchMax - 1,
    );
    if (unsequencedCount === 0) break;
    count = await em.transactional((inner) => sequenceBatch(inner, unsequencedCount, onPlaced));
    if (count > 0) getEventSignalsOfDatabase(em).emit('placed');
  }
  return total;
}

/**
 * Delay before another attempt. Another attempt is needed because the process that holds the lock may have started before these events were
 * committed.
 */
const retryDelayMs = 50;

async function sequenceBatch(em: EntityManager, unsequencedCount: number, onPlaced: OnSequenced): Promise<number> {
  // The process that holds this row lock assigns sequence numbers.
  // A separate statement takes the lock, so that the next statement sees the previous holder's commits.
  const skipLocked = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, disableIdentityMap: true } as const;
  const sequence = await em.findOne(EventSequenceCounter, { id: 1 }, skipLocked);
  if (!sequence) {
    setTimeout(() => getEventSignalsOfDatabase(em).emit('written'), retryDelayMs).unref();
    return 0;
  }
  const [{ count } = { count: 0 }] = await assignSequenceNumberBatch(em, [sequence.lastSeq, unsequencedCount]);
  if (count === 0) return 0;
  await onPlaced(em, sequence.lastSeq + 1, sequence.lastSeq + count);
  await notifyOtherProcessesOnCommit(em, 'placed');
  return count;
}
