import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import type { Job } from '../jobs/job-runner.ts';
import { repeatBatchUntilZero } from '../jobs/repeat-batch-until-zero.ts';
import { addRecordedChangesToOrderStatistics } from './query-update-and-rebuild-statistics.ts';

/**
 * Statistics queries also read the changes that have not been added to the sums yet, so the interval affects only the speed of the queries.
 */
const foldEveryMs = 2_000;

/** Returns the background job that adds recorded order changes to the statistics. */
export const createOrderStatisticsUpdateJob = ({ em }: Database): Job[] => [
  {
    name: 'order statistics',
    everyMs: foldEveryMs,
    run: (signal) => repeatBatchUntilZero(signal, () => addRecordedChangesToOrderStatistics(em.fork())),
  },
];
