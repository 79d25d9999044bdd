import type { Job } from '../../jobs/job-runner.ts';
import { repeatBatchUntilZero } from '../../jobs/repeat-batch-until-zero.ts';
import type { LogoutTokenSender } from './send-logout-tokens.ts';

/** Returns the background job that sends logout tokens. The job runs in every process with the role `all` or `worker`. */
export const createLogoutTokenSendingJob = (sender: LogoutTokenSender): Job => ({
  name: 'logout tokens',
  everyMs: 1_000,
  run: (signal) => repeatBatchUntilZero(signal, () => sender.sendBatch(signal)),
});
