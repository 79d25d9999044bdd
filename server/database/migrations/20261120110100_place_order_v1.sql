-- Places an order in one round trip: reads the current prices, locks the stock rows in the order of their product ids, takes the stock, and
-- inserts the order with its lines.
-- READ COMMITTED only: after waiting for a row lock, a statement reads the current version of the row.
-- The name contains a version, so that processes of two releases can run at the same time; a change is a new function.
create function mandate_place_order_v1(
  p_user_id bigint, p_client_id text, p_product_ids bigint[], p_quantities int[], p_delivery jsonb, p_has_address boolean,
  p_discount bigint, p_tax_mode text, p_expected_total bigint, p_reference text, p_note text, p_metadata jsonb, p_hold interval)
returns table (placed jsonb, items jsonb, refusal jsonb) language plpgsql as $function$
#variable_conflict use_column
begin
return query
with
lines as (
  select line::int, product_id, quantity
    from unnest(p_product_ids, p_quantities) with ordinality as t (product_id, quantity, line)
),
wanted as ( -- the quantities of lines with the same product are added
  select product_id, sum(quantity)::bigint as quantity from lines group by product_id
),
priced as ( -- tax is included in the price or added to it; half a minor unit is rounded up
  select l.line, l.product_id, l.quantity, p.sku, p.name, p.price, p.currency, p.tax_rate_bps, p.price * l.quantity as total,
         case p_tax_mode
           when 'inclusive' then (p.price * l.quantity * p.tax_rate_bps * 2 + 10000 + p.tax_rate_bps) / (2 * (10000 + p.tax_rate_bps))
           else (p.price * l.quantity * p.tax_rate_bps * 2 + 10000) / 20000
         end as tax
    from lines l join products p on p.id = l.product_id and p.status = 'active'
),
counted as ( -- products with limited stock
  select w.product_id, w.quantity, s.available from wanted w join product_stock s on s.product_id = w.product_id
),
locked as ( -- only rows with enough stock are locked, so that a sold-out product blocks no request
  select s.product_id
    from product_stock s join wanted w on w.product_id = s.product_id
   where s.available >= w.quantity
   order by s.product_id
     for no key update of s
),
sums as (
  select (select count(*) from lines) as line_count, count(*) as priced_count, count(distinct currency) as currencies, min(currency) as currency,
         coalesce(sum(total), 0) as subtotal, coalesce(sum(tax), 0) as tax_total
    from priced
),
discounted as ( -- a discount reduces the tax in proportion
  select s.*, case when subtotal > 0 then round(tax_total * (subtotal - p_discount) / subtotal) else tax_total end as due_tax from sums s
),
method as (
  select price, currency, requires_address from delivery_methods where code = p_delivery ->> 'method' and active
),
offer as (
  select s.subtotal - p_discount + m.price + case p_tax_mode when 'exclusive' then s.due_tax else 0 end as total from discounted s cross join method m
),
gate as ( -- either every check succeeds, or nothing is written
  select s.*, m.price as shipping_total, o.total
    from discounted s cross join method m cross join offer o
   where s.priced_count = s.line_count
     and s.currencies = 1
     and m.currency = s.currency
     and (p_has_address or not m.requires_address)
     and p_discount <= s.subtotal
     and s.subtotal + m.price <= 9007199254740991
     and o.total <= 9007199254740991
     and (p_expected_total is null or p_expected_total = o.total)
     and (select count(*) from counted) = (select count(*) from locked)
     and exists (select 1 from users u where u.id = p_user_id and u.status = 'active')
),
taken as (
  update product_stock s set available = s.available - w.quantity::int
    from wanted w, gate
   where s.product_id = w.product_id
),
new_order as (
  insert into orders (user_id, client_id, status, payment_status, paid_at, expires_at, currency, tax_mode, subtotal, discount_total, shipping_total, tax_total,
                      total, item_count,
                      delivery, reference, note, metadata)
  select p_user_id, p_client_id,
         case when total = 0 then 'paid' else 'pending' end,
         case when total = 0 then 'paid' else 'unpaid' end,
         case when total = 0 then now() end,
         case when total = 0 then null else now() + p_hold end,
         currency, p_tax_mode, subtotal, p_discount, shipping_total, due_tax, total, line_count, p_delivery, p_reference, p_note, p_metadata
    from gate
  returning *
),
new_items as (
  insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total)
  select o.id, p.line, p.product_id, p.sku, p.name, p.price, p.quantity, p.tax_rate_bps, p.tax, p.total
    from new_order o cross join priced p
  returning line, product_id, sku, name, unit_price, quantity, shipped_quantity, restocked_quantity, tax_rate_bps, tax, total
)
select (select to_jsonb(o) from new_order o),
       (select jsonb_agg(to_jsonb(i) order by i.line) from new_items i),
       case when not exists (select 1 from new_order) then jsonb_build_object(
         'unknown_products', (select coalesce(jsonb_agg(w.product_id), '[]') from wanted w where not exists (select 1 from products p where p.id = w.product_id)),
         'unavailable_products', (select coalesce(jsonb_agg(w.product_id), '[]') from wanted w join products p on p.id = w.product_id where p.status <> 'active'),
         'short', (select coalesce(jsonb_agg(jsonb_build_object('product_id', c.product_id, 'requested', c.quantity, 'available', c.available)), '[]')
                     from counted c where not exists (select 1 from locked l where l.product_id = c.product_id)),
         'currencies', s.currencies, 'currency', s.currency,
         'method', (select to_jsonb(m) from method m),
         'subtotal', s.subtotal,
         'total', (select o.total from offer o),
         'active_user', exists (select 1 from users u where u.id = p_user_id and u.status = 'active')
       ) end
  from sums s;
end
$function$
