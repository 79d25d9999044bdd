import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { cancelPaymentsOfExpiredOrders } from './cancel-payment.ts';
import type { PaymentProviders } from '../payments/providers/payment-provider.ts';
import { findOrderWithoutPermissionCheck } from '../orders/find-order.ts';
import { Order } from '../orders/order.entity.ts';
import { restockOrders } from '../orders/restock.ts';

const batchMax = 200;
const hasOpenPaymentSql = `exists (select 1 from payments p where p.order_id = o.id and p.status in ('pending', 'requires_action', 'processing'))`;

// Locked orders are skipped, because another transaction is changing them; the next run checks them again.
const lockExpired = prepareStatement<{ id: number }>(
  'lock_expired_orders',
  `select o.id from orders o where o.status = 'pending' and o.expires_at <= $1 and not ${hasOpenPaymentSql}
    order by o.expires_at limit ${batchMax} for no key update skip locked`,
);
// A payment may have started before the lock was taken; from now on, no payment can start.
const findStillUnpaid = prepareStatement<{ id: number; failed: boolean }>(
  'find_unpaid_orders',
  `select o.id, coalesce((select p.status = 'failed' from payments p where p.order_id = o.id order by p.attempt desc limit 1), false) as failed
     from orders o where o.id = any($1::bigint[]) and o.status = 'pending' and o.expires_at <= $2 and not ${hasOpenPaymentSql} order by o.id`,
);

/**
 * Cancels orders whose reservation has expired and returns their goods to stock, after canceling their payments at the providers.
 * Returns the number of canceled orders.
 */
export async function cancelExpiredOrders(em: EntityManager, providers: PaymentProviders, now: Date): Promise<number> {
  let canceledCount = 0;
  try {
    await cancelPaymentsOfExpiredOrders(em, providers, now, batchMax);
  } finally {
    for (let batch = batchMax; batch === batchMax; canceledCount += batch)
      batch = await em.fork().transactional((inner) => cancelBatch(inner, now));
  }
  return canceledCount;
}

async function cancelBatch(em: EntityManager, now: Date): Promise<number> {
  const locked = await lockExpired(em, [now.toISOString()]);
  const expired = await findStillUnpaid(em, [locked.map(({ id }) => id), now.toISOString()]);
  const failed = new Set(expired.filter((row) => row.failed).map(({ id }) => id));
  const ids = expired.map(({ id }) => id);
  const orders = await em.find(Order, { id: { $in: ids } }, { orderBy: { id: 'asc' }, refresh: true });
  for (const order of orders) order.cancel(failed.has(order.id) ? 'payment_failed' : 'payment_expired', now);
  await em.flush();
  await restockOrders(em, ids);
  for (const order of orders) await recordEvent(em, 'order.canceled', await findOrderWithoutPermissionCheck(em, order.id), order.user.id);
  return orders.length;
}
