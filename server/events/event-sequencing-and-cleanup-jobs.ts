import type { Job } from '../jobs/job-runner.ts';
import { repeatBatchUntilZero } from '../jobs/repeat-batch-until-zero.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import { getEventSignalsOfDatabase } from './event-signals.ts';
import { type OnSequenced, assignEventSequenceNumbers } from './assign-event-sequence-numbers.ts';
import { deleteExpiredEventsBatch } from './delete-expired-events.ts';

/** Minimum time between batches under load, because each batch is a separate commit. */
const batchEveryMs = 50;

/** Returns the background jobs that assign sequence numbers to committed events and delete expired events. */
export const createEventSequencingAndCleanupJobs = ({ em }: Database, onPlaced: OnSequenced): Job[] => {
  const signals = getEventSignalsOfDatabase(em);
  return [
    {
      name: 'events',
      everyMs: () => signals.pollMs,
      onWork: (wake) => signals.on('written', wake),
      minIntervalMs: batchEveryMs,
      run: () => assignEventSequenceNumbers(em.fork(), onPlaced),
    },
    {
      name: 'old events',
      everyMs: 3_600_000,
      run: (signal) => repeatBatchUntilZero(signal, () => deleteExpiredEventsBatch(em.fork(), new Date())),
    },
  ];
};
