import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { notifyProcessesOnCommit } from './event-notifications.ts';
import { getEventSignals } from './event-signals.ts';

/** Events per transaction: few enough that other processes wait only briefly for the sequence row. */
const batchMax = 1_000;

// This query and `assign` are unnamed, so they are planned for each execution.
// A plan cached while the table is small would read all events.
const countWaiting = prepareStatement<{ count: number }>(
  undefined,
  `select count(*) as count from (select 1 from events where seq is null limit ${batchMax}) waiting`,
);
// The process that holds this row lock assigns sequence numbers.
// The lock is taken in a separate statement, so that the next statement sees the previous holder's commits.
const lockSequence = prepareStatement<{ last_seq: number }>(
  'lock_event_sequence',
  'select last_seq from event_sequence for no key update skip locked',
);
const assign = prepareStatement<{ count: number }>(
  undefined,
  `with waiting as (select id from events where seq is null order by id limit $2),
        placed as (select id, $1::bigint + row_number() over (order by id) as seq from waiting),
        stamped as (update events e set seq = placed.seq from placed where e.id = placed.id returning e.id)
   select count(*) as count from stamped`,
);
const advance = prepareStatement('advance_event_sequence', 'update event_sequence set last_seq = $1');

/** Called in the transaction that assigns sequence numbers to events, with the first and the last number. */
export type OnSequenced = (em: EntityManager, first: number, last: number) => Promise<void>;

/**
 * Assigns gapless sequence numbers to all committed events and returns the number of events. Numbers are assigned in order and after the
 * commit, so a reader at number N never misses an earlier event. Row ids, in contrast, are assigned before the commit and can become
 * visible out of order.
 */
export async function assignEventSequence(em: EntityManager, onPlaced: OnSequenced = () => Promise.resolve()): Promise<number> {
  let total = 0;
  for (let count = batchMax; count === batchMax; total += count) {
    const [{ count: unsequencedCount } = { count: 0 }] = await countWaiting(em, []);
    if (unsequencedCount === 0) break;
    count = await em.transactional((inner) => sequenceBatch(inner, unsequencedCount, onPlaced));
    if (count > 0) getEventSignals(em).emit('placed');
  }
  return total;
}

/** Delay before another attempt: the process that holds the lock may have started before these events were committed. */
const retryDelayMs = 50;

async function sequenceBatch(em: EntityManager, unsequencedCount: number, onPlaced: OnSequenced): Promise<number> {
  const [sequence] = await lockSequence(em, []);
  if (!sequence) {
    setTimeout(() => getEventSignals(em).emit('written'), retryDelayMs).unref();
    return 0;
  }
  const [{ count } = { count: 0 }] = await assign(em, [sequence.last_seq, unsequencedCount]);
  if (count === 0) return 0;
  await advance(em, [sequence.last_seq + count]);
  await onPlaced(em, sequence.last_seq + 1, sequence.last_seq + count);
  await notifyProcessesOnCommit(em, 'placed');
  return count;
}
