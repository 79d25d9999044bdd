import type { Job } from '../background.ts';
import type { Database } from '../database/orm.ts';
import type { Deliverer } from './deliverer.ts';
import { disableOrphans } from './disable-endpoint.ts';

/** Sends what is due; what happens in this process is sent at once (events/jobs.ts), what happens in others and what is tried again, a little later. */
export const webhookJobs = ({ em }: Database, deliverer: Deliverer): Job[] => [
  { name: 'webhooks', everyMs: 250, run: () => deliverer.run() },
  { name: 'webhook endpoints', everyMs: 10_000, run: () => disableOrphans(em.fork()) },
];
