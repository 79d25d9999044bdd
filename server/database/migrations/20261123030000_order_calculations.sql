-- The arithmetic of an order, for placed and imported orders. PostgreSQL replaces a call by its expression, so the calls cost nothing.
-- Tax of a line, in minor units; half a minor unit rounds up. `total` contains the tax if the tax mode is `inclusive`.
create function mandate_line_tax_v1(total bigint, tax_rate_bps int, tax_mode text) returns bigint
  immutable parallel safe language sql as $$
  select case tax_mode
           when 'inclusive' then (total * tax_rate_bps * 2 + 10000 + tax_rate_bps) / (2 * (10000 + tax_rate_bps))
           else (total * tax_rate_bps * 2 + 10000) / 20000
         end
$$;

-- Tax of an order after its discount, which reduces the tax in proportion. `tax` is the sum over the lines.
create function mandate_order_tax_v1(tax numeric, subtotal numeric, discount bigint) returns numeric
  immutable parallel safe language sql as $$
  select case when subtotal > 0 then round(tax * (subtotal - discount) / subtotal) else tax end
$$;

-- Amount due for an order. `tax` is added only if the prices do not contain it.
create function mandate_order_total_v1(subtotal numeric, discount bigint, shipping bigint, tax numeric, tax_mode text) returns numeric
  immutable parallel safe language sql as $$
  select subtotal - discount + shipping + case tax_mode when 'exclusive' then tax else 0 end
$$;

-- Fields of an order in the API and in events, except items and delivery. `p_metadata` is the JSON text that the client sent.
create function mandate_order_fields_v1(o orders, p_metadata json) returns table (
  id bigint, user_id bigint, client_id text, status text, payment_status text, fulfillment_status text, cancel_reason text, currency text,
  tax_mode text, subtotal bigint, discount_total bigint, shipping_total bigint, tax_total bigint, total bigint, refunded_total bigint,
  item_count int, reference text, note text, metadata json, version int, expires_at text, created_at text, updated_at text, paid_at text,
  shipped_at text, delivered_at text, canceled_at text) stable parallel safe rows 1 language sql as $$
  select o.id, o.user_id, o.client_id, o.status, o.payment_status, o.fulfillment_status, o.cancel_reason, o.currency::text, o.tax_mode,
         o.subtotal, o.discount_total, o.shipping_total, o.tax_total, o.total, o.refunded_total, o.item_count, o.reference, o.note, p_metadata,
         o.version, mandate_instant_v1(o.expires_at), mandate_instant_v1(o.created_at), mandate_instant_v1(o.updated_at),
         mandate_instant_v1(o.paid_at), mandate_instant_v1(o.shipped_at), mandate_instant_v1(o.delivered_at), mandate_instant_v1(o.canceled_at)
$$;

-- Fields of a product in the API and in events.
create function mandate_product_fields_v1(p products, p_stock int) returns table (
  id bigint, sku text, name text, description text, category text, price bigint, currency text, tax_rate_bps int, stock int, status text,
  metadata jsonb, version int, created_at text, updated_at text) stable parallel safe rows 1 language sql as $$
  select p.id, p.sku, p.name, p.description, p.category, p.price, p.currency::text, p.tax_rate_bps, p_stock, p.status, p.metadata, p.version,
         mandate_instant_v1(p.created_at), mandate_instant_v1(p.updated_at)
$$
