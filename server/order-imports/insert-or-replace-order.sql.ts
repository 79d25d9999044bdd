import { prepareStatement } from '../database/queries/prepared-statement.ts';

const computed = `lines as (
     select *, unit_price * quantity as total,
            mandate_line_tax_v1(unit_price * quantity, tax_rate_bps, $7) as tax
       from jsonb_to_recordset($15::jsonb)
            as l (line int, product_id bigint, sku text, name text, unit_price bigint, quantity int, tax_rate_bps int)),
   sums as (select count(*) as item_count, sum(total)::bigint as subtotal, sum(tax)::bigint as tax_total from lines),
   due as (select *, mandate_order_tax_v1(tax_total, subtotal, $8::bigint)::bigint as due_tax from sums)`;
const columns = `user_id, client_id, status, payment_status, fulfillment_status, currency, tax_mode, subtotal, discount_total,
                         shipping_total, tax_total, total, item_count, delivery, reference, note, created_at, paid_at, shipped_at, delivered_at, canceled_at`;
// The casts are needed because PostgreSQL does not infer parameter types in a subquery of an UPDATE.
const values = `$1::bigint, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, subtotal, $8::bigint, $9::bigint, due_tax,
            mandate_order_total_v1(subtotal, $8::bigint, $9::bigint, due_tax, $7)::bigint, item_count,
            $10::jsonb, $11::text, $12::text, $13::timestamptz,
            case when $3 <> 'canceled' then $13::timestamptz end, case when $3 in ('shipped', 'delivered') then $13::timestamptz end,
            case when $3 = 'delivered' then $13::timestamptz end, case when $3 = 'canceled' then $13::timestamptz end`;
const items = `items as (
     insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, shipped_quantity, tax_rate_bps, tax, total)
     select placed.id, line, product_id, sku, name, unit_price, quantity, case when $3 in ('shipped', 'delivered') then quantity else 0 end,
            tax_rate_bps, tax, total
       from placed cross join lines)`;
// Written in SQL because taxes and totals are calculated by the SQL functions that `place_order` uses (see the `create-order` benchmark).
export const insertOrderWithLinesAndImportReference = prepareStatement<{ id: number }>(
  'insert_imported_order',
  `with ${computed},
   placed as (insert into orders (${columns}) select ${values} from due returning id),
   ${items}
   insert into imported_orders (source, reference, order_id, fingerprint) select $14, $11, id, $16 from placed returning order_id as id`,
);
// Written in SQL because taxes and totals are calculated by the SQL functions that `place_order` uses.
export const updateOrderInsertLinesAndSetFingerprint = prepareStatement<{ id: number }>(
  'replace_imported_order',
  `with ${computed},
   placed as (
     update orders set (${columns}, version, updated_at) = (select ${values}, orders.version + 1, now() from due) where id = $17 returning id),
   ${items}
   update imported_orders set fingerprint = $16 where source = $14 and reference = $11 and order_id = $17 returning order_id as id`,
);
