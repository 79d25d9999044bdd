import type { EntityManager } from '../../server/database/entity-manager/entity-manager-type.ts';

/** Interval between the numbers of the largest customer's orders. The other customers share the remaining orders. */
const largestCustomerInterval = 80;
const usersCount = 20_000;

/**
 * Inserts sample orders that resemble an old shop's orders, evenly distributed over time. Old orders are delivered, a few orders are
 * canceled, the newest orders are pending or paid, and 1% are refunded. The orders have no line items, because lists do not read line
 * items.
 */
export async function fillOrders(em: EntityManager, count: number, report: (done: number) => void): Promise<{ largestCustomerId: number }> {
  const [first] = await em.execute<{ id: number }[]>(
    `with made as (insert into users (name, email) select 'User ' || n, 'user' || n || '@example.com' from generate_series(1, ?) n returning id)
     select min(id) as id from made`,
    [usersCount],
  );
  const largestCustomerId = first?.id ?? 1;
  const batch = 500_000;
  for (let from = 1; from <= count; from += batch) {
    const to = Math.min(from + batch - 1, count);
    await em.execute(insertOrders, [
      largestCustomerInterval,
      largestCustomerId,
      largestCustomerId,
      usersCount - 1,
      count,
      count,
      count,
      count,
      from,
      to,
    ]);
    report(to);
  }
  for (const table of ['orders', 'users']) await em.execute(`vacuum analyze ${table}`);
  return { largestCustomerId };
}

// orders with a higher n are newer; the newest 0.1% of the orders are pending or paid
const insertOrders = `
  insert into orders (user_id, status, payment_status, fulfillment_status, currency, subtotal, shipping_total, tax_total, total, item_count,
                      delivery, reference, created_at, updated_at)
  select case when n % ? = 0 then ?::bigint else ?::bigint + 1 + (n * 7919 % ?) end,
         status,
         case when status in ('pending', 'canceled') then 'unpaid' when n % 100 = 7 then 'refunded' else 'paid' end,
         case status when 'delivered' then 'delivered' when 'shipped' then 'shipped' else 'unfulfilled' end,
         'EUR', 1000, 0, 0, 1000, 1, '{"method":"pickup","recipient_name":"A"}', case when n % 10 = 0 then 'R-' || n end,
         timestamptz '2020-01-01' + n * interval '20 seconds', timestamptz '2020-01-01' + n * interval '20 seconds'
    from (select n, case when n % 20 = 3 then 'canceled'
                         when n > ?::bigint * 9995 / 10000 then 'pending'
                         when n > ?::bigint * 999 / 1000 then 'paid'
                         when n > ?::bigint * 995 / 1000 and ?::bigint > 0 then 'shipped'
                         else 'delivered' end as status
            from generate_series(?::bigint, ?::bigint) n) orders`;
