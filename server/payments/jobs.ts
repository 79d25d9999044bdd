import type { Job } from '../background.ts';
import { databaseTime } from '../database/database-time.ts';
import type { Database, Em } from '../database/orm.ts';
import { sweepExpiredOrders } from '../orders/sweep-expired-orders.ts';
import { checkRefunds } from '../refunds/check-refunds.ts';
import { checkPayments } from './check-payments.ts';
import { applyProviderEvents } from './provider-events.ts';
import type { PaymentProviders } from './provider.ts';

const everyMs = 5_000;

/** What has to do with money and goes on without anybody asking. */
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
