import { prepareStatement } from '../database/queries/prepared-statement.ts';

// Written in SQL because one statement both locks the stock rows in the order of their product IDs and increments the stock (see the
// `create-order-hot` benchmark). A check constraint ensures that no more units of a line are returned than were ordered.
export const markItemsRestockedAndIncreaseStock = prepareStatement<{ product_id: number; before: number }>(
  'restock_order_lines',
  `with returned as (
     update order_items i set restocked_quantity = i.restocked_quantity + w.quantity
       from unnest($1::bigint[], $2::int[], $3::int[]) as w (order_id, line, quantity)
      where i.order_id = w.order_id and i.line = w.line
     returning i.product_id, w.quantity),
   sums as (select product_id, sum(quantity)::int as quantity from returned group by product_id),
   locked as (
     select s.product_id from product_stock s join sums q on q.product_id = s.product_id order by s.product_id for no key update of s)
   update product_stock s set available = s.available + q.quantity
     from locked l join sums q on q.product_id = l.product_id
    where s.product_id = l.product_id
   returning s.product_id, s.available - q.quantity as before`,
);
