import type { Order, OrderCreate } from '@mandate/contract';
import type { Em } from '../database/orm.ts';
import { statement } from '../database/statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { findProduct } from '../products/find-product.ts';
import { type OrderRow, toOrder } from './order-rows.ts';
import { refusedOrder, type Refusal } from './refused-order.ts';

/** How long an unpaid order keeps its goods. */
const hold = '30 minutes';

type Placed = { placed: OrderRow | null; items: Order['items'] | null; sold_out: number[]; refusal: Refusal | null };

const place = statement<Placed>(
  'place_order_v2',
  `select placed, items, to_jsonb(sold_out) as sold_out, refusal
     from mandate_place_order_v2($1, $2, $3::bigint[], $4::int[], $5::jsonb, $6, $7, $8, $9, $10, $11, $12::jsonb, $13::interval)`,
);

/** For whom, and through which application. */
export type Buyer = { readonly userId: number; readonly clientId: string };

/** Takes the stock, fixes the prices and writes the order, or throws everything that stands against it. */
export async function placeOrder(em: Em, taxMode: Order['tax_mode'], buyer: Buyer, input: OrderCreate): Promise<Order> {
  const { delivery, items } = input;
  const hasAddress = delivery.line1 !== undefined && delivery.city !== undefined && delivery.country !== undefined;
  const [answer] = await place(em, [
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
  ]);
  if (answer?.placed && answer.items) {
    const order = toOrder(answer.placed, answer.items);
    await recordEvent(em, 'order.created', order, order.user_id);
    if (order.status === 'paid') await recordEvent(em, 'order.paid', order, order.user_id);
    for (const id of answer.sold_out) {
      await recordEvent(em, 'product.out_of_stock', await findProduct(em, id, true), null);
    }
    return order;
  }
  if (!answer?.refusal) throw new Error('placing an order gave neither an order nor a reason');
  throw refusedOrder(answer.refusal, input);
}
