import { describe, expect, test } from 'vitest';
import { Order } from '../../../server/orders/order-and-order-item.entity.ts';

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 12, minute));

function createOrder(status: Order['status'], expiresAt: Date | null): Order {
  const order: Order = Object.create(Order.prototype);
  return Object.assign(order, { status, expiresAt });
}

describe('the end of the stock reservation of an order', () => {
  test.each([
    { expiresAt: at(10), until: at(9), extended: at(10), shortened: at(9) },
    { expiresAt: at(10), until: at(10), extended: at(10), shortened: at(10) },
    { expiresAt: at(10), until: at(11), extended: at(11), shortened: at(10) },
    { expiresAt: null, until: at(10), extended: null, shortened: null },
  ])('$expiresAt, changed to $until', ({ expiresAt, until, extended, shortened }) => {
    const longer = createOrder('pending', expiresAt);
    longer.extendReservation(until);
    expect(longer.expiresAt).toEqual(extended);
    const shorter = createOrder('pending', expiresAt);
    shorter.shortenReservation(until);
    expect(shorter.expiresAt).toEqual(shortened);
  });

  test.each(['paid', 'canceled'] as const)('does not change after the order is %s', (status) => {
    const order = createOrder(status, at(10));
    order.extendReservation(at(20));
    order.shortenReservation(at(5));
    expect(order.expiresAt).toEqual(at(10));
  });
});
