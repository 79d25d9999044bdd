import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';

/** Returns the accounting invariants that the shop's data violates. Queries the database directly, without server code. */
export async function findAccountingDiscrepancies(db: Database): Promise<string[]> {
  const em = db.em.fork();
  const discrepancies: string[] = [];
  for (const [rule, query] of Object.entries(invariants)) {
    const rows = await em.execute<object[]>(query);
    discrepancies.push(...rows.map((row) => `${rule}: ${JSON.stringify(row)}`));
  }
  return discrepancies;
}

const invariants = {
  'received stock differs from available plus sold plus reserved stock': `
    select s.product_id, s.available, coalesce(a.received, 0) as received, coalesce(i.sold, 0) as sold, coalesce(r.reserved, 0) as reserved
      from product_stock s
      left join (select product_id, sum(delta) as received from stock_adjustments group by 1) a using (product_id)
      left join (select product_id, sum(quantity - restocked_quantity) as sold from order_items group by 1) i using (product_id)
      left join (select product_id, sum(quantity) as reserved from quote_reservations group by 1) r using (product_id)
     where s.available <> coalesce(a.received, 0) - coalesce(i.sold, 0) - coalesce(r.reserved, 0)`,
  'a quote that is not open reserves stock': `
    select q.id from quotes q join quote_reservations r on r.quote_id = q.id
     where q.order_id is not null or q.canceled_at is not null or q.expiration_reported_at is not null`,
  'an order differs from its quote': `
    select q.id, o.id as order_id from quotes q join orders o on o.id = q.order_id
     where (o.user_id, o.currency, o.subtotal, o.discount_total, o.shipping_total, o.tax_total, o.total)
           is distinct from (q.user_id, q.currency, q.subtotal, q.discount_total, q.shipping_total, q.tax_total, q.total)
        or (select jsonb_agg(jsonb_build_object('product_id', i.product_id, 'quantity', i.quantity, 'unit_price', i.unit_price) order by i.line)
              from order_items i where i.order_id = o.id)
           <> (select jsonb_agg(jsonb_build_object('product_id', l -> 'product_id', 'quantity', l -> 'quantity', 'unit_price', l -> 'unit_price')
                                order by (l -> 'line')::int) from jsonb_array_elements(q.items) l)`,
  'the last event of a quote differs from its state': `
    select q.id, e.type from quotes q
      join lateral (select type from events where subject_type = 'quote' and subject_id = q.id order by id desc limit 1) e on true
     where e.type <> case when q.order_id is not null then 'quote.converted' when q.canceled_at is not null then 'quote.canceled'
                          when q.expiration_reported_at is not null then 'quote.expired' else 'quote.created' end`,
  'an order total differs from its lines': `
    select o.id from orders o join order_items i on i.order_id = o.id group by o.id
    having o.subtotal <> sum(i.total) or o.total <> o.subtotal - o.discount_total + o.shipping_total or o.item_count <> count(*)`,
  'a canceled order was not restocked': `
    select o.id, i.line from orders o join order_items i on i.order_id = o.id where o.status = 'canceled' and i.restocked_quantity <> i.quantity`,
  'statuses contradict each other': `
    select id, status, payment_status, fulfillment_status from orders
     where (status in ('paid', 'shipped', 'delivered') and payment_status = 'unpaid')
        or (status in ('pending', 'canceled') and fulfillment_status <> 'unfulfilled')
        or (status = 'shipped' and fulfillment_status <> 'shipped' -- only a failed shipment may be sent again
            and not exists (select 1 from shipments s where s.order_id = orders.id and s.status = 'failed'))
        or (status = 'delivered' and fulfillment_status <> 'delivered')`,
  'refunds exceed the payment': `
    select p.id from payments p left join refunds r on r.payment_id = p.id and r.status in ('pending', 'succeeded') group by p.id
    having coalesce(sum(r.amount), 0) > case when p.status = 'succeeded' then p.amount else 0 end`,
  'the refunded total of an order differs from its refunds': `
    select o.id, o.refunded_total from orders o left join refunds r on r.order_id = o.id and r.status = 'succeeded' group by o.id
    having o.refunded_total <> coalesce(sum(r.amount), 0)`,
  'an order has two succeeded or open payments': `
    select order_id from payments where status in ('succeeded') group by 1 having count(*) > 1
    union all
    select order_id from payments where status in ('pending', 'requires_action', 'processing') group by 1 having count(*) > 1`,
  'shipped quantity exceeds ordered quantity': `
    select order_id, line from order_items where shipped_quantity > quantity`,
  'the last event of an order differs from its status': `
    select o.id, o.status, e.status as reported from orders o
      join lateral (select data ->> 'status' as status from events where subject_type = 'order' and subject_id = o.id order by id desc limit 1) e on true
     where e.status <> o.status`,
  'the last event of a payment differs from its status': `
    select p.id, p.status, e.status as reported from payments p
      join lateral (select data ->> 'status' as status from events where subject_type = 'payment' and subject_id = p.id order by id desc limit 1) e on true
     where e.status <> p.status and p.status <> 'processing'`,
  'an order does not have exactly one order.created event': `
    select o.id from orders o left join events e on e.subject_type = 'order' and e.subject_id = o.id and e.type = 'order.created'
     group by o.id having count(e.id) <> 1`,
  'an order was paid, shipped or canceled twice': `
    select subject_id, type from events where type in ('order.paid', 'order.shipped', 'order.delivered', 'order.canceled')
     group by 1, 2 having count(*) > 1`,
};
