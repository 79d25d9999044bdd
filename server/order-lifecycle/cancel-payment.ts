import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { Payment } from '../payments/payment.entity.ts';
import { ifAvailable, type PaymentProviders, providerOf } from '../payments/providers/payment-provider.ts';
import { settlePayment } from './apply-payment-outcome.ts';

type OpenPayment = { readonly id: number; readonly provider: string; readonly provider_reference: string; readonly provider_key: string };

const columns = 'p.id, p.provider, p.provider_reference, p.provider_key';
// One that is processing is out of anybody's hands; one without a reference is being started at this moment.
const cancelable = `p.status in ('pending', 'requires_action') and p.provider_reference is not null`;

const openById = statement<OpenPayment>('open_payment', `select ${columns} from payments p where p.id = $1 and ${cancelable}`);
const openOfOrder = statement<OpenPayment>(
  'open_payment_of_order',
  `select ${columns} from payments p where p.order_id = $1 and ${cancelable}`,
);
const openOfExpired = statement<OpenPayment>(
  'open_payments_of_expired_orders',
  `select ${columns} from orders o join payments p on p.order_id = o.id
    where o.status = 'pending' and o.expires_at <= $1 and ${cancelable} order by o.expires_at limit $2`,
);

/** Cancels the payment at its provider, and writes down what came of it; `false` when there is nothing to cancel. Outside of any transaction. */
export const cancelPayment = async (em: Em, providers: PaymentProviders, id: number, now: Date): Promise<boolean> =>
  cancelAll(em, providers, await openById(em, [id]), now);

/** The same for whatever payment of the order is open. */
export const cancelPaymentOf = async (em: Em, providers: PaymentProviders, orderId: number, now: Date): Promise<boolean> =>
  cancelAll(em, providers, await openOfOrder(em, [orderId]), now);

/** For a dry run, whose transaction is rolled back: what `cancelPaymentOf` would leave if the provider agreed, without calling it. */
export const assumePaymentCanceled = (em: Em, orderId: number): Promise<number> =>
  em.nativeUpdate(
    Payment,
    { order: orderId, status: { $in: ['pending', 'requires_action'] }, providerReference: { $ne: null } },
    { status: 'canceled' },
  );

/** The same for orders whose hold has ended. */
export const cancelPaymentsOfExpired = async (em: Em, providers: PaymentProviders, now: Date, limit: number): Promise<boolean> =>
  cancelAll(em, providers, await openOfExpired(em, [now.toISOString(), limit]), now);

/** One that makes trouble does not keep the others from being canceled; it is heard of in the end. */
async function cancelAll(em: Em, providers: PaymentProviders, payments: readonly OpenPayment[], now: Date): Promise<boolean> {
  const troubles: unknown[] = [];
  for (const payment of payments) await cancelOne(em, providers, payment, now).catch((error: unknown) => troubles.push(error));
  if (troubles.length === 1) throw troubles[0];
  if (troubles.length > 1) throw new AggregateError(troubles, `${troubles.length} payments could not be canceled`);
  return payments.length > 0;
}

async function cancelOne(em: Em, providers: PaymentProviders, payment: OpenPayment, now: Date): Promise<void> {
  const { id, provider, provider_reference: reference, provider_key: key } = payment;
  const outcome = await ifAvailable(providerOf(providers, provider).cancel(reference, `${key}-cancel`));
  if (outcome) await settlePayment(em, providers, id, outcome, now);
}
