import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { cancelPaymentsOfExpiredOrders } from './cancel-payment-at-provider.ts';
import type { PaymentProviders } from '../payments/providers/payment-provider.ts';
import { findOrderWithoutPermissionCheck } from '../orders/find-order.ts';
import { Order } from '../orders/order-and-order-item.entity.ts';
import { isOpenPaymentStatus, openPaymentStatuses, Payment } from '../payments/payment.entity.ts';
import { returnAllItemsOfOrdersToStock } from '../orders/return-order-items-to-stock.ts';

const batchMax = 200;
/**
 * Cancels the payments of orders whose reservation has expired, then cancels these orders and puts their goods back into stock. Returns the
 * number of canceled orders.
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
  const locked = await lockExpiredOrders(em, now);
  // A payment may have started before the order was locked. From now on, no payment can start.
  const ofLocked = { order: { $in: locked.map(({ id }) => id) } };
  const payments = await em.find(Payment, ofLocked, { orderBy: { attempt: 'asc' }, disableIdentityMap: true });
  const statuses = Map.groupBy(payments, ({ order }) => order.id);
  const orders = locked
    .filter(({ id }) => !statuses.get(id)?.some(({ status }) => isOpenPaymentStatus(status)))
    .toSorted((a, b) => a.id - b.id);
  for (const order of orders) {
    const isFailed = statuses.get(order.id)?.at(-1)?.status === 'failed';
    order.cancel(isFailed ? 'payment_failed' : 'payment_expired', now);
  }
  await em.flush();
  await returnAllItemsOfOrdersToStock(
    em,
    orders.map(({ id }) => id),
  );
  for (const order of orders) await recordEvent(em, 'order.canceled', await findOrderWithoutPermissionCheck(em, order.id), order.user.id);
  return orders.length;
}

/**
 * Locks expired orders that have no open payment. Orders that another transaction is changing are skipped; the next run checks them again.
 */
function lockExpiredOrders(em: EntityManager, now: Date): Promise<Order[]> {
  const withOpenPayment = em
    .createQueryBuilder(Payment)
    .select('order')
    .where({ status: { $in: openPaymentStatuses } })
    .toRaw();
  const isExpired = { status: 'pending', expiresAt: { $lte: now }, id: { $nin: withOpenPayment } } as const;
  const skipLocked = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, refresh: true } as const;
  return em.find(Order, isExpired, { orderBy: { expiresAt: 'asc' }, limit: batchMax, ...skipLocked });
}
