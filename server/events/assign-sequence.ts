import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { notifyOnCommit } from './event-notifications.ts';
import { eventSignals } from './event-signals.ts';

/** So many at a time that whoever waits for the row is not kept waiting. */
const batch = 1_000;

// Both of these are planned each time, for as many events as there are: a plan that was made while there were few reads all of them.
const countWaiting = statement<{ count: number }>(
  undefined,
  `select count(*) as count from (select 1 from events where seq is null limit ${batch}) waiting`,
);
// Whoever holds the row gives out places. A statement of its own: the next one must see what the holder before has committed.
const hold = statement<{ last_seq: number }>('hold_event_sequence', 'select last_seq from event_sequence for no key update skip locked');
const stamp = statement<{ count: number }>(
  undefined,
  `with waiting as (select id from events where seq is null order by id limit $2),
        placed as (select id, $1::bigint + row_number() over (order by id) as seq from waiting),
        stamped as (update events e set seq = placed.seq from placed where e.id = placed.id returning e.id)
   select count(*) as count from stamped`,
);
const advance = statement('advance_event_sequence', 'update event_sequence set last_seq = $1');

/** Called in the transaction that gives events their places, with the first and the last of them. */
export type OnPlaced = (em: Em, first: number, last: number) => Promise<void>;

/**
 * Gives every committed event its place in the public order, which has no gaps, and says how many those were. Places are given out
 * in turn and after the commit, so nobody who has read up to one of them can miss an event before it; identifiers of rows are
 * drawn before the commit, and would lose events to whoever reads on from the highest they saw.
 */
export async function sequenceEvents(em: Em, onPlaced: OnPlaced = () => Promise.resolve()): Promise<number> {
  let total = 0;
  for (let count = batch; count === batch; total += count) {
    const [{ count: waiting } = { count: 0 }] = await countWaiting(em, []);
    if (waiting === 0) break;
    count = await em.transactional((inner) => placeBatch(inner, waiting, onPlaced));
    if (count > 0) eventSignals(em).emit('placed');
  }
  return total;
}

/** Another process may have begun before these events were committed, so it may not see them. */
const tryAgainAfterMs = 50;

async function placeBatch(em: Em, waiting: number, onPlaced: OnPlaced): Promise<number> {
  const [held] = await hold(em, []);
  if (!held) {
    setTimeout(() => eventSignals(em).emit('written'), tryAgainAfterMs).unref();
    return 0;
  }
  const [{ count } = { count: 0 }] = await stamp(em, [held.last_seq, waiting]);
  if (count === 0) return 0;
  await advance(em, [held.last_seq + count]);
  await onPlaced(em, held.last_seq + 1, held.last_seq + count);
  await notifyOnCommit(em, 'placed');
  return count;
}
