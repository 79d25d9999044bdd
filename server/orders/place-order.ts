import type { Order, OrderCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { emitEventSignalAfterCommit } from '../events/event-signals.ts';
import type { IdempotencyKeyClaim, StoredIdempotentResponse } from '../http/writes/idempotency.ts';
import { problemFromOrderRejection } from './problem-from-order-rejection.ts';
import { callPlaceOrderSqlFunction } from './call-place-order.sql.ts';

/** How long an unpaid order reserves its goods. */
export const reservationTtl = '30 minutes';

/** The user to whom the order belongs, and the client that places the order. */
export type OrderBuyer = {
  readonly userId: number;
  readonly clientId: string;
  /** The grant whose limits apply; null if the client does not act under a grant. */
  readonly grantId: string | null;
  /** Whether the grant had limits when the request was authenticated. */
  readonly isLimited: boolean;
};

type PlacementOptions = {
  readonly taxMode: Order['tax_mode'];
  /** Returns the response's delivery fields, in the representation of the API version. */
  readonly toDelivery: (delivery: Order['delivery']) => object;
};

/**
 * Places an order in one SQL statement: claims the idempotency key, calculates the prices, checks the customer's limits, reserves the
 * stock, inserts the order and its event, and stores the response. Throws a problem that lists every reason for a rejection. Returns `undefined` if the key was already
 * claimed.
 */
export async function placeOrder(
  em: EntityManager,
  claim: IdempotencyKeyClaim,
  { taxMode, toDelivery }: PlacementOptions,
  buyer: OrderBuyer,
  input: OrderCreate,
): Promise<StoredIdempotentResponse> {
  const { delivery, items } = input;
  const hasAddress = delivery.line1 !== undefined && delivery.city !== undefined && delivery.country !== undefined;
  const [placed] = await callPlaceOrderSqlFunction(em, [
    claim,
    '/api/v1/orders/',
    buyer.userId,
    buyer.clientId,
    items.map((item) => item.product_id),
    items.map((item) => item.quantity),
    JSON.stringify(delivery),
    hasAddress,
    input.discount_total ?? 0,
    taxMode,
    input.total ?? null,
    input.reference ?? null,
    input.note ?? null,
    JSON.stringify(input.metadata),
    reservationTtl,
    JSON.stringify(toDelivery(delivery)),
    buyer.grantId,
    buyer.isLimited,
  ]);
  if (!placed) throw new Error('placing an order returned no row');
  if (placed.refusal) throw problemFromOrderRejection(placed.refusal, input);
  if (placed.answer === null || placed.location === null) return undefined;
  await emitEventSignalAfterCommit(em, 'written');
  return { body: placed.answer, location: placed.location };
}
