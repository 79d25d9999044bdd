import type { Order, OrderCreate } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import type { Claim, Kept } from '../http/writes/idempotency.ts';
import { refusedOrder, type Refusal } from './order-problems.ts';

/** How long an unpaid order keeps its goods. */
const hold = '30 minutes';

type Placed = { answer: string | null; location: string | null; refusal: Refusal | null };

const place = statement<Placed>(
  'place_order_v3',
  `select answer, location, refusal
     from mandate_place_order_v3($1::text[], $2, $3, $4, $5::bigint[], $6::int[], $7::json, $8, $9, $10, $11, $12, $13, $14::json, $15::interval, $16::json)`,
);

/** For whom, and through which application. */
export type Buyer = { readonly userId: number; readonly clientId: string };

type Terms = {
  readonly taxMode: Order['tax_mode'];
  /** What the answer says of the delivery, in the words of its version. */
  readonly wordsOf: (delivery: Order['delivery']) => object;
};

/**
 * Claims the key, takes the stock, fixes the prices, writes the order and what happened, and keeps the answer: all of it in one
 * statement, or throws everything that stands against it. Nothing comes back where the key was claimed before.
 */
export async function placeOrder(em: Em, claim: Claim, { taxMode, wordsOf }: Terms, buyer: Buyer, input: OrderCreate): Promise<Kept> {
  const { delivery, items } = input;
  const hasAddress = delivery.line1 !== undefined && delivery.city !== undefined && delivery.country !== undefined;
  const [placed] = await place(em, [
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
    hold,
    JSON.stringify(wordsOf(delivery)),
  ]);
  if (!placed) throw new Error('placing an order gave no row');
  if (placed.refusal) throw refusedOrder(placed.refusal, input);
  return placed.answer === null || placed.location === null ? undefined : { body: placed.answer, location: placed.location };
}
