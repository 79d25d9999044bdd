import type { Job } from '../jobs/job-runner.ts';
import { readDatabaseTime } from '../database/time/read-database-time.sql.ts';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEventsOfNewlyExpiredApprovals } from '../approvals/record-expirations-and-cancel-for-grants.ts';
import { cancelExpiredOrders } from './cancel-expired-orders.ts';
import { recordExpiredQuotesAndReleaseStock } from '../quotes/record-and-delete-expired-quotes.ts';
import { submitOrPollDueRefunds } from '../refunds/submit-or-poll-due-refunds.ts';
import { submitPollOrCancelDuePayments } from './submit-poll-or-cancel-due-payments.ts';
import { applyCurrentStatesForDueProviderEvents } from './store-and-apply-provider-events.ts';
import type { PaymentProviders } from '../payments/providers/payment-provider.ts';

const everyMs = 5_000;

/** Returns the background jobs for payments, refunds, provider events, expired orders, expired quotes and expired approvals. */
export const createPaymentRefundAndExpiryJobs = ({ em }: Database, providers: PaymentProviders): Job[] => {
  const job = (name: string, work: (em: EntityManager, providers: PaymentProviders, now: Date) => Promise<unknown>): Job => ({
    name,
    everyMs,
    run: async () => work(em.fork(), providers, await readDatabaseTime(em.fork())),
  });
  return [
    job('provider events', applyCurrentStatesForDueProviderEvents),
    job('payments', submitPollOrCancelDuePayments),
    job('refunds', submitOrPollDueRefunds),
    job('expired orders', cancelExpiredOrders),
    job('expired approvals', (inner, _providers, now) => recordEventsOfNewlyExpiredApprovals(inner, now)),
    job('expired quotes', (inner, _providers, now) => recordExpiredQuotesAndReleaseStock(inner, now)),
  ];
};
