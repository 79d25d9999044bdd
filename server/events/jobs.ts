import type { Job } from '../jobs/job-runner.ts';
import type { Database, Em } from '../database/entity-manager/entity-manager.ts';
import { eventSignals } from './event-signals.ts';
import { type OnPlaced, sequenceEvents } from './assign-sequence.ts';
import { sweepEvents } from './delete-old-events.ts';

/** Under load, events get their places in batches, because each batch is a commit of its own. */
const batchEveryMs = 50;

/** Gives events their places soon after they were committed, and deletes them when their time is over. */
export const eventJobs = ({ em }: Database, onPlaced: OnPlaced): Job[] => {
  const signals = eventSignals(em);
  return [
    {
      name: 'events',
      everyMs: () => signals.pollMs,
      onWork: (wake) => signals.on('written', wake),
      leastMs: batchEveryMs,
      run: () => sequenceEvents(em.fork(), onPlaced),
    },
    { name: 'old events', everyMs: 3_600_000, run: (signal) => sweepAll(em, signal) },
  ];
};

async function sweepAll(em: Em, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await sweepEvents(em.fork(), new Date())) > 0);
}
