import type { Job } from '../jobs/job-runner.ts';
import type { Database, Em } from '../database/entity-manager/entity-manager.ts';
import { eventSignals } from './event-signals.ts';
import { type OnPlaced, sequenceEvents } from './assign-sequence.ts';
import { sweepEvents } from './delete-old-events.ts';

/** Minimum time between batches under load, because each batch is a separate commit. */
const batchEveryMs = 50;

/** Returns the background jobs that assign sequence numbers to committed events and delete expired events. */
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
    { name: 'old events', everyMs: 3_600_000, run: (signal) => deleteAllOldEvents(em, signal) },
  ];
};

async function deleteAllOldEvents(em: Em, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await sweepEvents(em.fork(), new Date())) > 0);
}
