import type { Order } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { emitEventSignalAfterCommit } from '../events/event-signals.ts';
import type { IdempotencyKeyClaim, StoredIdempotentResponse } from '../http/writes/idempotency.ts';
import { callPlaceOrderSqlFunction, type LimitCheck, type PricedOrderRejection } from './call-place-order.sql.ts';
import {
  hasCompleteDeliveryAddress,
  problemFromOrderRejection,
  type OrderInputOrQuoteContent,
  type OrderRejection,
} from './problem-from-order-rejection.ts';

/** How long an unpaid order reserves its goods. */
export const unpaidOrderReservationTtl = '30 minutes';

/** The user who owns the order, and the client that places the order. */
export type OrderBuyer = {
  readonly userId: number;
  readonly clientId: string;
  /** The grant whose limits apply; null if the request is not authorized by a grant. */
  readonly grantId: string | null;
  /** Whether the grant had limits when the request was authenticated. */
  readonly isLimited: boolean;
};

export type PlacementOptions = {
  readonly taxMode: Order['tax_mode'];
  /** Returns the response's delivery fields, in the representation of the API version. */
  readonly toDelivery: (delivery: Order['delivery']) => object;
};

/**
 * Places an order. A single SQL statement claims the idempotency key, calculates the prices, checks the customer's limits, reserves the
 * stock, inserts the order and its event, marks the quote (if any) as converted, and stores the response. Throws a problem that lists every
 * reason for a rejection. Returns `undefined` if the key was already claimed.
 */
export async function placeOrder(
  em: EntityManager,
  claim: IdempotencyKeyClaim,
  { taxMode, toDelivery }: PlacementOptions,
  buyer: OrderBuyer,
  input: OrderInputOrQuoteContent,
): Promise<StoredIdempotentResponse> {
  const [placed] = await callPlaceOrderSqlFunction(em, [
    claim,
    '/api/v1/orders/',
    ...orderParameters(taxMode, buyer.userId, buyer.clientId, input),
    JSON.stringify(toDelivery(input.delivery)),
    buyer.grantId,
    buyer.isLimited,
    false,
    input.quoteId ?? null,
  ]);
  if (!placed) throw new Error('placing an order returned no row');
  if (placed.refusal) throw problemFromOrderRejection(placed.refusal, input);
  if (placed.answer === null || placed.location === null) return undefined;
  await emitEventSignalAfterCommit(em, 'written');
  return { body: placed.answer, location: placed.location };
}

/** Price of an order that has not been placed, and every reason why the order cannot be placed now. */
export type OrderPrice = Omit<OrderRejection, 'quote' | 'exceeded'> & {
  /** The limits of the grant, and the limit that the order would exceed, if any; null if there are no limits. */
  readonly limitCheck: LimitCheck | null;
  readonly price: NonNullable<PricedOrderRejection['price']>;
};

/** Calculates the price of an order without placing it. */
export async function priceOrder(
  em: EntityManager,
  taxMode: Order['tax_mode'],
  buyer: OrderBuyer,
  input: OrderInputOrQuoteContent,
): Promise<OrderPrice> {
  const parameters = orderParameters(taxMode, buyer.userId, buyer.clientId, input);
  const [row] = await callPlaceOrderSqlFunction(em, [null, '', ...parameters, '{}', buyer.grantId, buyer.isLimited, true, null]);
  if (!row?.refusal?.price) throw new Error('pricing an order returned no price');
  const { exceeded: limitCheck, quote: _quote, price, ...conflicts } = row.refusal;
  return { ...conflicts, limitCheck, price };
}

/** Returns the parameters that are needed both to place and to price an order. */
const orderParameters = (taxMode: Order['tax_mode'], userId: number, clientId: string, input: OrderInputOrQuoteContent): unknown[] => [
  userId,
  clientId,
  input.items.map((item) => item.product_id),
  input.items.map((item) => item.quantity),
  JSON.stringify(input.delivery),
  hasCompleteDeliveryAddress(input),
  input.discount_total ?? 0,
  taxMode,
  input.total ?? null,
  input.reference ?? null,
  input.note ?? null,
  JSON.stringify(input.metadata),
  unpaidOrderReservationTtl,
];
