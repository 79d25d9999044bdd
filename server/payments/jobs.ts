import type { Job } from '../background.ts';
import type { Database } from '../database/orm.ts';
import { sweepExpiredOrders } from '../orders/sweep-expired-orders.ts';
import { checkRefunds } from '../refunds/check-refunds.ts';
import { checkPayments } from './check-payments.ts';
import { applyProviderEvents } from './provider-events.ts';
import type { PaymentProviders } from './provider.ts';

const everyMs = 5_000;

/** What has to do with money and goes on without anybody asking. */
export const paymentJobs = ({ em }: Database, providers: PaymentProviders): Job[] => [
  { name: 'provider events', everyMs, run: () => applyProviderEvents(em.fork(), providers, new Date()) },
  { name: 'payments', everyMs, run: () => checkPayments(em.fork(), providers, new Date()) },
  { name: 'refunds', everyMs, run: () => checkRefunds(em.fork(), providers, new Date()) },
  { name: 'expired orders', everyMs, run: () => sweepExpiredOrders(em.fork(), providers, new Date()) },
];
