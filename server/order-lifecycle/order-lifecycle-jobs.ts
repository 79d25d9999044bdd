import type { Job } from '../jobs/job-runner.ts';
import { databaseTime } from '../database/time/database-clock.ts';
import type { Database, Em } from '../database/entity-manager/entity-manager.ts';
import { sweepExpiredOrders } from './expire-orders.ts';
import { checkRefunds } from '../refunds/poll-pending-refunds.ts';
import { checkPayments } from './poll-pending-payments.ts';
import { applyProviderEvents } from './provider-events.ts';
import type { PaymentProviders } from '../payments/providers/payment-provider.ts';

const everyMs = 5_000;

/** Returns the background jobs for payments, refunds, provider events and expired orders. */
export const paymentJobs = ({ em }: Database, providers: PaymentProviders): Job[] => {
  const job = (name: string, work: (em: Em, providers: PaymentProviders, now: Date) => Promise<unknown>): Job => ({
    name,
    everyMs,
    run: async () => work(em.fork(), providers, await databaseTime(em.fork())),
  });
  return [
    job('provider events', applyProviderEvents),
    job('payments', checkPayments),
    job('refunds', checkRefunds),
    job('expired orders', sweepExpiredOrders),
  ];
};
