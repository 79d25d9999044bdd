import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { cancelPaymentsOfExpired } from './cancel-payment.ts';
import type { PaymentProviders } from '../payments/providers/payment-provider.ts';
import { orderBody } from '../orders/find-order.ts';
import { Order } from '../orders/order.entity.ts';
import { returnAll } from '../orders/restock.ts';

const batchMax = 200;
const openPayment = `exists (select 1 from payments p where p.order_id = o.id and p.status in ('pending', 'requires_action', 'processing'))`;

// Whoever holds an order is about to change it: it is left to the next time, and nobody waits.
const takeExpired = statement<{ id: number }>(
  'take_expired_orders',
  `select o.id from orders o where o.status = 'pending' and o.expires_at <= $1 and not ${openPayment}
    order by o.expires_at limit ${batchMax} for no key update skip locked`,
);
// A payment may have begun between looking and locking; now none can any more.
const stillUnpaid = statement<{ id: number; failed: boolean }>(
  'still_unpaid_orders',
  `select o.id, coalesce((select p.status = 'failed' from payments p where p.order_id = o.id order by p.attempt desc limit 1), false) as failed
     from orders o where o.id = any($1::bigint[]) and o.status = 'pending' and o.expires_at <= $2 and not ${openPayment} order by o.id`,
);

/** Gives the goods of orders back whose hold has ended: first their payments are canceled at the providers. Gives how many orders it canceled. */
export async function sweepExpiredOrders(em: Em, providers: PaymentProviders, now: Date): Promise<number> {
  let swept = 0;
  try {
    await cancelPaymentsOfExpired(em, providers, now, batchMax);
  } finally {
    for (let batch = batchMax; batch === batchMax; swept += batch) batch = await em.fork().transactional((inner) => sweepBatch(inner, now));
  }
  return swept;
}

async function sweepBatch(em: Em, now: Date): Promise<number> {
  const locked = await takeExpired(em, [now.toISOString()]);
  const expired = await stillUnpaid(em, [locked.map(({ id }) => id), now.toISOString()]);
  const failed = new Set(expired.filter((row) => row.failed).map(({ id }) => id));
  const ids = expired.map(({ id }) => id);
  const orders = await em.find(Order, { id: { $in: ids } }, { orderBy: { id: 'asc' }, refresh: true });
  for (const order of orders) order.cancel(failed.has(order.id) ? 'payment_failed' : 'payment_expired', now);
  await em.flush();
  await returnAll(em, ids);
  for (const order of orders) await recordEvent(em, 'order.canceled', await orderBody(em, order.id), order.user.id);
  return orders.length;
}
