-- Places an order in one statement, and so in one round trip and one transaction: claims the idempotency key, takes the stock, writes the
-- order with its lines and events, and stores the response; or writes nothing and returns every reason in `refusal`. Requests that wait for
-- a row lock wait only for this statement, never for the network.
-- READ COMMITTED only: after waiting for a row lock, a statement reads the current version of the row.
-- The name contains a version, so that processes of two releases can run at the same time; a change is a new function. To show another
-- column, a migration creates `mandate_order_fields_v2`, and the next version from the text of this file with the two names replaced.
-- The plans are generic, because planning every order takes twice as long. Rows are found by their keys: a plan that was made while a table
-- was empty would otherwise read the whole table as long as the connection exists.
create function mandate_place_order_v10(
  p_claim text[], -- caller, operation, key and hash of the request; null without a key
  p_path text, p_user_id bigint, p_client_id text, p_product_ids bigint[], p_quantities int[], p_delivery json, p_has_address boolean,
  p_discount bigint, p_tax_mode text, p_expected_total bigint, p_reference text, p_note text, p_metadata json, p_hold interval,
  p_words json, -- delivery fields of the response, in the representation of its API version
  p_grant_id text, -- null for API keys and for applications that act on their own behalf
  p_limited boolean, -- whether the grant had limits when the token was verified
  p_price_only boolean, -- writes nothing, and returns the price and every reason against the order in `refusal`
  p_quote_id bigint, -- quote from which the order is placed, with the items and the delivery of the quote; null without a quote
  out answer text, out location text, out refusal jsonb) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $function$
#variable_conflict use_column
declare
  claimed tid;
  known int; currencies int; order_currency text; subtotal_due numeric; tax_due numeric; total_due numeric;
  skus text[]; names text[]; prices bigint[]; rates int[]; taxes bigint[]; totals bigint[];
  shipping bigint; shipping_currency text; needs_address boolean; active_user boolean;
  missing int; sold_out bigint[];
  quote quotes; ended text; price_changes jsonb;
  allowed order_limits; exceeded jsonb; above_ceiling jsonb; checked_limits jsonb; decided_at timestamptz;
  used_approval_id bigint; approval jsonb;
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

  -- The lock makes concurrent orders from one quote wait for each other, so that at most one of them is placed.
  if p_quote_id is not null then
    select * into strict quote from quotes where id = p_quote_id for update;
    ended := case when quote.order_id is not null then 'converted'
                  when quote.canceled_at is not null then 'canceled'
                  when quote.expires_at <= clock_timestamp() or quote.expiration_reported_at is not null then 'expired' end;
  end if;

  -- All prices are read in one snapshot.
  select count(*), count(distinct currency), min(currency), coalesce(sum(total), 0), coalesce(sum(tax), 0),
         array_agg(sku order by line), array_agg(name order by line), array_agg(price order by line), array_agg(tax_rate_bps order by line),
         array_agg(tax order by line), array_agg(total order by line)
    into known, currencies, order_currency, subtotal_due, tax_due, skus, names, prices, rates, taxes, totals
    from (select l.line, p.sku, p.name, p.price, p.tax_rate_bps, p.currency, p.price * l.quantity as total,
                 mandate_line_tax_v1(p.price * l.quantity, p.tax_rate_bps, p_tax_mode) as tax
            from unnest(p_product_ids, p_quantities) with ordinality l (product_id, quantity, line)
            join products p on p.id = l.product_id and p.status = 'active') priced;
  select m.price, m.currency, m.requires_address, u.id is not null
    into shipping, shipping_currency, needs_address, active_user
    from (select) asked
    left join delivery_methods m on m.code = p_delivery ->> 'method' and m.active
    left join users u on u.id = p_user_id and u.status = 'active';
  tax_due := mandate_order_tax_v1(tax_due, subtotal_due, p_discount);
  total_due := mandate_order_total_v1(subtotal_due, p_discount, shipping, tax_due, p_tax_mode);
  if p_quote_id is not null and known = cardinality(p_product_ids) then
    select jsonb_agg(distinct jsonb_build_object('product_id', i.product_id, 'quoted', i.unit_price, 'actual', l.price))
      into price_changes
      from jsonb_to_recordset(quote.items) i (line int, product_id bigint, unit_price bigint, tax_rate_bps int)
      join unnest(prices, rates) with ordinality l (price, rate, line) on l.line = i.line
     where l.price <> i.unit_price or l.rate <> i.tax_rate_bps;
  end if;

  -- The limits that the customer and administrators set. The lock makes concurrent orders of one grant wait for each other, so that each
  -- sees what the others spent, and makes a change of the limits wait. The time is read after the lock, because `now()` is the time before
  -- the wait.
  if p_grant_id is not null then
    allowed := mandate_lock_order_limits_v2(p_grant_id, p_client_id);
    -- The customer's approval of this quote replaces the amounts that the customer set, but none that administrators set. The lock prevents
    -- the approval from being canceled at the same time.
    if p_quote_id is not null then
      select id into used_approval_id from approvals
       where quote_id = p_quote_id and grant_id = p_grant_id and approved_at is not null and declined_at is null and canceled_at is null
         and used_at is null and expires_at > clock_timestamp()
         for no key update;
    end if;
    if allowed.grant_id is not null then
      decided_at := clock_timestamp();
      exceeded := case when allowed.valid_until <= decided_at then jsonb_build_object('limit', 'valid_until')
                       when 'place' <> all (allowed.actions) then jsonb_build_object('limit', 'actions') end;
      if exceeded is null then
        exceeded := mandate_find_exceeded_limit_v3(p_grant_id, p_client_id, p_product_ids, order_currency, total_due, total_due, decided_at, false);
        if exceeded is not null or used_approval_id is not null or allowed.approval = 'always' then
          above_ceiling := mandate_find_exceeded_limit_v3(p_grant_id, p_client_id, p_product_ids, order_currency, total_due, total_due, decided_at, true);
        end if;
        exceeded := case when used_approval_id is not null then above_ceiling
                         when allowed.approval = 'always' then coalesce(above_ceiling, jsonb_build_object('limit', 'approval'))
                         else exceeded end;
      end if;
      if exceeded is not null and p_quote_id is not null then
        select jsonb_build_object('id', id, 'status', case when declined_at is not null then 'declined'
                                                           when expires_at <= clock_timestamp() then 'expired' else 'pending' end)
          into approval from approvals
         where quote_id = p_quote_id and grant_id = p_grant_id and canceled_at is null and used_at is null and used_approval_id is null;
      end if;
      -- A response has room for one amount per order and one budget: the lowest amount, and the budget of which the least remains.
      if exceeded is not null or p_price_only then
        select jsonb_build_object(
                 'limit', null, 'currency', min(l.currency), 'per_order', min(l.per_order), 'valid_until', allowed.valid_until,
                 'per_period', (array_agg(l.per_period order by l.per_period - l.spent) filter (where l.per_period is not null))[1],
                 'period', (array_agg(l.period order by l.per_period - l.spent) filter (where l.per_period is not null))[1],
                 'approvable', case when p_grant_id not like 'api-key-%' then allowed.approval <> 'never' and above_ceiling is null end,
                 'approval', approval,
                 'spent', (array_agg(l.spent order by l.per_period - l.spent) filter (where l.per_period is not null))[1],
                 'period_ends_at', (array_agg(l.period_ends_at order by l.per_period - l.spent) filter (where l.per_period is not null))[1])
          into checked_limits
          from mandate_spending_limits_v3(p_grant_id, p_client_id, decided_at) l;
        checked_limits := checked_limits || coalesce(jsonb_strip_nulls(exceeded), '{}');
      end if;
    elsif p_limited and not exists (select from connections where grant_id = p_grant_id) then
      exceeded := jsonb_build_object('limit', 'revoked');
      checked_limits := exceeded;
    end if;
  end if;

  -- Either every check succeeds, or nothing is written. Stock rows are locked in the order of their product ids, and only those with enough
  -- stock, so that a sold-out product blocks no request. The quantities of lines with the same product are added.
  if not p_price_only
     and active_user and known = cardinality(p_product_ids) and currencies = 1 and shipping_currency = order_currency
     and (p_has_address or not needs_address) and p_discount <= subtotal_due
     and subtotal_due + shipping <= 9007199254740991 and total_due <= 9007199254740991 and coalesce(p_expected_total = total_due, true)
     and exceeded is null and ended is null
     and (p_quote_id is null
          or (price_changes is null and shipping = quote.shipping_total and tax_due = quote.tax_total and total_due = quote.total))
  then
    if quote.hold then -- the quote has already taken the stock, which now belongs to the order
      delete from quote_reservations where quote_id = p_quote_id;
      missing := 0;
    else
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
             'subtotal', subtotal_due, 'total', total_due, 'active_user', active_user,
             'exceeded', checked_limits,
             'price', case when p_price_only then
                        jsonb_build_object('tax', tax_due, 'skus', skus, 'names', names, 'unit_prices', prices, 'tax_rates', rates, 'taxes', taxes,
                                           'totals', totals,
                                           'stock', coalesce(jsonb_object_agg(w.product_id, s.available) filter (where s.product_id is not null), '{}'))
                      end,
             'quote', case when p_quote_id is not null then
                        jsonb_build_object('id', quote.id, 'ended', ended, 'order_id', quote.order_id, 'expires_at', quote.expires_at,
                                           'hold', quote.hold, 'price_changes', coalesce(price_changes, '[]'),
                                           'shipping_total', quote.shipping_total, 'total', quote.total) end)
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
  if used_approval_id is not null then
    update approvals set order_id = placed.id, used_at = clock_timestamp(), updated_at = clock_timestamp(), version = version + 1
     where id = used_approval_id;
  end if;
  if allowed.grant_id is not null then
    insert into budgeted_orders (grant_id, order_id, counted_at, approved)
    values (p_grant_id, placed.id, decided_at, used_approval_id is not null);
  end if;
  if p_quote_id is not null then
    update quotes set order_id = placed.id, converted_at = now(), updated_at = now(), version = version + 1 where id = p_quote_id;
  end if;

  select to_json(o)::text into happened from mandate_order_fields_v1(placed, p_metadata) o;
  happened := left(happened, -1) || ',"items":[' || items || '],';
  answer := happened || substr(p_words::text, 2);
  happened := happened || '"delivery":' || p_delivery || '}';
  location := p_path || placed.id;

  insert into events (type, user_id, subject_type, subject_id, subject_version, data)
  values ('order.created', placed.user_id, 'order', placed.id, placed.version, happened::jsonb);
  if placed.status = 'paid' then
    insert into events (type, user_id, subject_type, subject_id, subject_version, data)
    values ('order.paid', placed.user_id, 'order', placed.id, placed.version, happened::jsonb);
  end if;
  if sold_out is not null then
    insert into events (type, subject_type, subject_id, subject_version, data)
    select 'product.out_of_stock', 'product', p.id, p.version, to_jsonb(f)
      from products p join product_stock s on s.product_id = p.id cross join lateral mandate_product_fields_v1(p, s.available) f
     where p.id = any(sold_out)
     order by p.id;
  end if;
  update idempotency_keys set status = 201, location = p_path || placed.id, body = answer where ctid = claimed;
end
$function$
