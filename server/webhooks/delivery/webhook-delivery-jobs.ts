import type { Job } from '../../jobs/job-runner.ts';
import type { Database } from '../../database/entity-manager/entity-manager-type.ts';
import { getEventSignalsOfDatabase } from '../../events/event-signals.ts';
import type { DeliveryWorker } from './delivery-worker.ts';
import { disableEndpointsWithInvalidAccess } from '../endpoints/disable-webhook-endpoint.ts';

/**
 * Returns the background jobs that send webhooks. New deliveries are sent immediately. Retries that this process has scheduled are sent
 * when they are due; retries that other processes have scheduled are found by polling.
 */
export const createWebhookDeliveryJobs = ({ em }: Database, deliverer: DeliveryWorker): Job[] => {
  const signals = getEventSignalsOfDatabase(em);
  return [
    {
      name: 'webhooks',
      everyMs: () => signals.pollMs,
      onWork: (wake) => signals.on('placed', wake),
      run: () => deliverer.run(),
    },
    { name: 'webhook endpoints', everyMs: 10_000, run: () => disableEndpointsWithInvalidAccess(em.fork()) },
  ];
};
