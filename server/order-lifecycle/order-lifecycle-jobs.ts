import type { Job } from '../jobs/job-runner.ts';
import { readDatabaseTime } from '../database/time/database-clock.sql.ts';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { cancelExpiredOrders } from './expire-orders.ts';
import { submitOrPollDueRefunds } from '../refunds/poll-pending-refunds.ts';
import { submitPollOrCancelDuePayments } from './poll-pending-payments.ts';
import { applyDueProviderEvents } from './provider-events.ts';
import type { PaymentProviders } from '../payments/providers/payment-provider.ts';

const everyMs = 5_000;

/** Returns the background jobs for payments, refunds, provider events and expired orders. */
export const createOrderLifecycleJobs = ({ em }: Database, providers: PaymentProviders): Job[] => {
  const job = (name: string, work: (em: EntityManager, providers: PaymentProviders, now: Date) => Promise<unknown>): Job => ({
    name,
    everyMs,
    run: async () => work(em.fork(), providers, await readDatabaseTime(em.fork())),
  });
  return [
    job('provider events', applyDueProviderEvents),
    job('payments', submitPollOrCancelDuePayments),
    job('refunds', submitOrPollDueRefunds),
    job('expired orders', cancelExpiredOrders),
  ];
};
