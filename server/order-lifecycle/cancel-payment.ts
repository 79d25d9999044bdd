import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { Payment } from '../payments/payment.entity.ts';
import { undefinedIfUnavailable, type PaymentProviders, requirePaymentProvider } from '../payments/providers/payment-provider.ts';
import { commitPaymentOutcome } from './apply-payment-outcome.ts';

type OpenPayment = { readonly id: number; readonly provider: string; readonly provider_reference: string; readonly provider_key: string };

const columns = 'p.id, p.provider, p.provider_reference, p.provider_key';
// A payment that is processing cannot be canceled; a payment without a reference is still being created at its provider.
const isCancelableSql = `p.status in ('pending', 'requires_action') and p.provider_reference is not null`;

const findOpenById = prepareStatement<OpenPayment>(
  'find_open_payment',
  `select ${columns} from payments p where p.id = $1 and ${isCancelableSql}`,
);
const findOpenOfOrder = prepareStatement<OpenPayment>(
  'find_open_payment_of_order',
  `select ${columns} from payments p where p.order_id = $1 and ${isCancelableSql}`,
);
const findOpenOfExpiredOrders = prepareStatement<OpenPayment>(
  'find_open_payments_of_expired_orders',
  `select ${columns} from orders o join payments p on p.order_id = o.id
    where o.status = 'pending' and o.expires_at <= $1 and ${isCancelableSql} order by o.expires_at limit $2`,
);

/** Cancels a payment at its provider and stores the outcome. Returns false if nothing can be canceled. Must not run in a transaction. */
export const cancelPayment = async (em: EntityManager, providers: PaymentProviders, id: number, now: Date): Promise<boolean> =>
  cancelAll(em, providers, await findOpenById(em, [id]), now);

/** Cancels the open payment of an order, like `cancelPayment`. */
export const cancelOpenPaymentOfOrder = async (
  em: EntityManager,
  providers: PaymentProviders,
  orderId: number,
  now: Date,
): Promise<boolean> => cancelAll(em, providers, await findOpenOfOrder(em, [orderId]), now);

/** For dry runs, whose transaction is rolled back: marks the open payment as canceled without calling its provider. */
export const simulatePaymentCancellation = (em: EntityManager, orderId: number): Promise<number> =>
  em.nativeUpdate(
    Payment,
    { order: orderId, status: { $in: ['pending', 'requires_action'] }, providerReference: { $ne: null } },
    { status: 'canceled' },
  );

/** Cancels open payments of orders whose reservation has expired, like `cancelPayment`. */
export const cancelPaymentsOfExpiredOrders = async (
  em: EntityManager,
  providers: PaymentProviders,
  now: Date,
  limit: number,
): Promise<boolean> => cancelAll(em, providers, await findOpenOfExpiredOrders(em, [now.toISOString(), limit]), now);

/** Cancels all given payments even if some cancellations fail, and throws the errors at the end. */
async function cancelAll(em: EntityManager, providers: PaymentProviders, payments: readonly OpenPayment[], now: Date): Promise<boolean> {
  const errors: unknown[] = [];
  for (const payment of payments) await cancelOne(em, providers, payment, now).catch((error: unknown) => errors.push(error));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} payments could not be canceled`);
  return payments.length > 0;
}

async function cancelOne(em: EntityManager, providers: PaymentProviders, payment: OpenPayment, now: Date): Promise<void> {
  const { id, provider, provider_reference: reference, provider_key: key } = payment;
  const outcome = await undefinedIfUnavailable(requirePaymentProvider(providers, provider).cancel(reference, `${key}-cancel`));
  if (outcome) await commitPaymentOutcome(em, providers, id, outcome, now);
}
