import type { Job } from '../../jobs/job-runner.ts';
import type { Database } from '../../database/entity-manager/entity-manager.ts';
import { eventSignals } from '../../events/event-signals.ts';
import type { Deliverer } from './delivery-worker.ts';
import { disableOrphans } from '../endpoints/disable-endpoint.ts';

/**
 * Returns the background jobs that send webhooks: new deliveries immediately, own retries when they are due, retries of other processes by
 * polling.
 */
export const webhookJobs = ({ em }: Database, deliverer: Deliverer): Job[] => {
  const signals = eventSignals(em);
  return [
    {
      name: 'webhooks',
      everyMs: () => signals.pollMs,
      onWork: (wake) => signals.on('placed', wake),
      run: () => deliverer.run(),
    },
    { name: 'webhook endpoints', everyMs: 10_000, run: () => disableOrphans(em.fork()) },
  ];
};
