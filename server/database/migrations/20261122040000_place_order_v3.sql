-- Places an order in one statement, and so in one round trip and one transaction: claims the idempotency key, takes the stock, writes the
-- order with its lines and events, and stores the response. Requests that wait for a row lock wait only for this statement, never for the
-- network.
-- READ COMMITTED only: after waiting for a row lock, a statement reads the current version of the row.
-- The name contains a version, so that processes of two releases can run at the same time; a change is a new function.
-- The plans are generic, because planning every order takes twice as long. Rows are found by their keys: a plan that was made while a table
-- was empty would otherwise read the whole table as long as the connection exists.
create function mandate_place_order_v3(
  p_claim text[], -- caller, operation, key and hash of the request; null without a key
  p_path text, p_user_id bigint, p_client_id text, p_product_ids bigint[], p_quantities int[], p_delivery json, p_has_address boolean,
  p_discount bigint, p_tax_mode text, p_expected_total bigint, p_reference text, p_note text, p_metadata json, p_hold interval,
  p_words json, -- delivery fields of the response, in the representation of its API version
  out answer text, out location text, out refusal jsonb) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $function$
#variable_conflict use_column
declare
  claimed tid;
  known int; currencies int; order_currency text; subtotal_due numeric; tax_due numeric; total_due numeric;
  skus text[]; names text[]; prices bigint[]; rates int[]; taxes bigint[]; totals bigint[];
  shipping bigint; shipping_currency text; needs_address boolean; active_user boolean;
  missing int; sold_out bigint[];
  placed orders; items text; happened text;
begin
  -- Waits for a concurrent request with the same key. No row means that the key was already used; the caller reads the stored response.
  if p_claim is not null then
    insert into idempotency_keys (caller, operation, key, request_hash) values (p_claim[1], p_claim[2], p_claim[3], p_claim[4])
        on conflict (caller, operation, key) do update set request_hash = excluded.request_hash, created_at = now()
     where idempotency_keys.created_at < now() - interval '24 hours'
    returning ctid into claimed;
    if claimed is null then return; end if;
  end if;

  -- All prices are read in one snapshot. Tax is included in the prices or added to them; half a minor unit is rounded up.
  select count(*), count(distinct currency), min(currency), coalesce(sum(total), 0), coalesce(sum(tax), 0),
         array_agg(sku order by line), array_agg(name order by line), array_agg(price order by line), array_agg(tax_rate_bps order by line),
         array_agg(tax order by line), array_agg(total order by line)
    into known, currencies, order_currency, subtotal_due, tax_due, skus, names, prices, rates, taxes, totals
    from (select l.line, p.sku, p.name, p.price, p.tax_rate_bps, p.currency, p.price * l.quantity as total,
                 case p_tax_mode
                   when 'inclusive' then (p.price * l.quantity * p.tax_rate_bps * 2 + 10000 + p.tax_rate_bps) / (2 * (10000 + p.tax_rate_bps))
                   else (p.price * l.quantity * p.tax_rate_bps * 2 + 10000) / 20000
                 end as tax
            from unnest(p_product_ids, p_quantities) with ordinality l (product_id, quantity, line)
            join products p on p.id = l.product_id and p.status = 'active') priced;
  select m.price, m.currency, m.requires_address, u.id is not null
    into shipping, shipping_currency, needs_address, active_user
    from (select) asked
    left join delivery_methods m on m.code = p_delivery ->> 'method' and m.active
    left join users u on u.id = p_user_id and u.status = 'active';
  -- a discount reduces the tax in proportion
  if subtotal_due > 0 then tax_due := round(tax_due * (subtotal_due - p_discount) / subtotal_due); end if;
  total_due := subtotal_due - p_discount + shipping + case p_tax_mode when 'exclusive' then tax_due else 0 end;

  -- Either every check succeeds, or nothing is written. Stock rows are locked in the order of their product ids, and only those with enough
  -- stock, so that a sold-out product blocks no request. The quantities of lines with the same product are added.
  if active_user and known = cardinality(p_product_ids) and currencies = 1 and shipping_currency = order_currency
     and (p_has_address or not needs_address) and p_discount <= subtotal_due
     and subtotal_due + shipping <= 9007199254740991 and total_due <= 9007199254740991 and coalesce(p_expected_total = total_due, true)
  then
    with wanted as (
      select product_id, sum(quantity) as quantity from unnest(p_product_ids, p_quantities) l (product_id, quantity) group by product_id
    ),
    counted as ( -- products with limited stock
      select w.product_id, s.available from wanted w join product_stock s on s.product_id = w.product_id
    ),
    locked as (
      select s.product_id from product_stock s join wanted w on w.product_id = s.product_id
       where s.available >= w.quantity
       order by s.product_id
         for no key update of s
    ),
    taken as (
      update product_stock s set available = s.available - w.quantity::int
        from wanted w
       where s.product_id = w.product_id and (select count(*) from locked) = (select count(*) from counted)
      returning s.product_id, s.available
    )
    select (select count(*) from counted) - count(*), array_agg(product_id) filter (where available = 0) into missing, sold_out from taken;
  end if;

  -- A rejected request releases its key, so that it can be sent again when the cause no longer exists.
  if missing is distinct from 0 then
    delete from idempotency_keys where ctid = claimed;
    with wanted as (
      select product_id, sum(quantity) as quantity from unnest(p_product_ids, p_quantities) l (product_id, quantity) group by product_id
    )
    select jsonb_build_object(
             'unknown_products', coalesce(jsonb_agg(w.product_id) filter (where p.id is null), '[]'),
             'unavailable_products', coalesce(jsonb_agg(w.product_id) filter (where p.status <> 'active'), '[]'),
             'short', coalesce(jsonb_agg(jsonb_build_object('product_id', w.product_id, 'requested', w.quantity, 'available', s.available))
                                 filter (where s.available < w.quantity), '[]'),
             'currencies', currencies, 'currency', order_currency,
             'method', case when shipping_currency is not null then
                         jsonb_build_object('price', shipping, 'currency', shipping_currency, 'requires_address', needs_address) end,
             'subtotal', subtotal_due, 'total', total_due, 'active_user', active_user)
      into refusal
      from wanted w left join products p on p.id = w.product_id left join product_stock s on s.product_id = w.product_id;
    return;
  end if;

  insert into orders (user_id, client_id, status, payment_status, paid_at, expires_at, currency, tax_mode, subtotal, discount_total,
                      shipping_total, tax_total, total, item_count, delivery, reference, note, metadata)
  values (p_user_id, p_client_id,
          case when total_due = 0 then 'paid' else 'pending' end, case when total_due = 0 then 'paid' else 'unpaid' end,
          case when total_due = 0 then now() end, case when total_due > 0 then now() + p_hold end,
          order_currency, p_tax_mode, subtotal_due, p_discount, shipping, tax_due, total_due, known, p_delivery, p_reference, p_note, p_metadata)
  returning * into placed;
  with written as (
    insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total)
    select placed.id, line, product_id, sku, name, price, quantity, rate, tax, total
      from unnest(p_product_ids, skus, names, prices, p_quantities, rates, taxes, totals) with ordinality
        as l (product_id, sku, name, price, quantity, rate, tax, total, line)
    returning line, product_id, sku, name, unit_price, quantity, shipped_quantity, restocked_quantity, tax_rate_bps, tax, total
  )
  select string_agg(to_json(w)::text, ',' order by line) into items from written w;

  -- the order as in the API, except lines and delivery, which are added below
  select to_json(o)::text into happened
    from (select placed.id, placed.user_id, placed.client_id, placed.status, placed.payment_status, placed.fulfillment_status,
                 placed.cancel_reason, placed.currency, placed.tax_mode, placed.subtotal, placed.discount_total, placed.shipping_total,
                 placed.tax_total, placed.total, placed.refunded_total, placed.item_count, placed.reference, placed.note,
                 p_metadata as metadata, placed.version, mandate_instant_v1(placed.expires_at) as expires_at,
                 mandate_instant_v1(placed.created_at) as created_at, mandate_instant_v1(placed.updated_at) as updated_at,
                 mandate_instant_v1(placed.paid_at) as paid_at, placed.shipped_at, placed.delivered_at, placed.canceled_at) o;
  answer := left(happened, -1) || ',"items":[' || items || '],' || substr(p_words::text, 2);
  happened := left(happened, -1) || ',"items":[' || items || '],"delivery":' || p_delivery || '}';
  location := p_path || placed.id;

  insert into events (type, user_id, subject_type, subject_id, subject_version, data)
  values ('order.created', placed.user_id, 'order', placed.id, placed.version, happened::jsonb);
  if placed.status = 'paid' then
    insert into events (type, user_id, subject_type, subject_id, subject_version, data)
    values ('order.paid', placed.user_id, 'order', placed.id, placed.version, happened::jsonb);
  end if;
  if sold_out is not null then
    insert into events (type, subject_type, subject_id, subject_version, data)
    select 'product.out_of_stock', 'product', p.id, p.version, to_jsonb(p)
      from (select p.id, p.sku, p.name, p.description, p.category, p.price, p.currency, p.tax_rate_bps, s.available as stock, p.status, p.metadata,
                   p.version, mandate_instant_v1(p.created_at) as created_at, mandate_instant_v1(p.updated_at) as updated_at
              from products p join product_stock s on s.product_id = p.id where p.id = any(sold_out)) p
     order by p.id;
  end if;
  update idempotency_keys set status = 201, location = p_path || placed.id, body = answer where ctid = claimed;
end
$function$
