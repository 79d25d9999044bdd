-- The limits of a grant or API key, with the categories of the products that can be ordered. A limit without categories permits all products,
-- and a limit without a currency contains no amounts.

create function mandate_order_limit_ceilings_v2(p_client_id text)
  returns table (set_by text, currency text, per_order bigint, per_period bigint, period text, categories text[])
  stable parallel safe language sql as $$
  select c.set_by, c.ceiling ->> 'currency', (c.ceiling ->> 'per_order')::bigint, (c.ceiling ->> 'per_period')::bigint, c.ceiling ->> 'period',
         c.categories
    from (select 'application' as set_by, a.order_limits_ceiling as ceiling, a.order_categories_ceiling as categories
            from applications a where a.client_id = p_client_id
          union all
          select 'shop', s.maximum_limits, s.maximum_categories from applications a join order_limit_settings s on s.id = 1
           where a.client_id = p_client_id and not a.first_party) c
   where c.ceiling is not null or c.categories is not null $$;

create function mandate_spending_limits_v3(p_grant_id text, p_client_id text, p_at timestamptz)
  returns table (set_by text, currency text, per_order bigint, per_period bigint, period text,
                 period_starts_at timestamptz, period_ends_at timestamptz, time_zone text, spent bigint, categories text[])
  stable parallel safe language sql as $$
  select l.set_by, l.currency, l.per_order, l.per_period, l.period,
         mandate_budget_starts_v1(l.period, z.name, p_at), mandate_budget_ends_v1(l.period, z.name, p_at), z.name,
         case when l.period is not null then
           mandate_budget_spent_v2(p_grant_id, l.currency, mandate_budget_starts_v1(l.period, z.name, p_at),
                                   l.set_by in ('application', 'shop')) end,
         l.categories
    from (select case when p_grant_id like 'api-key-%' then 'api_key' else 'customer' end as set_by,
                 o.currency::text, o.per_order, o.per_period, o.period, o.categories
            from order_limits o where o.grant_id = p_grant_id and (o.currency is not null or o.categories is not null)
          union all
          select c.set_by, c.currency, c.per_order, c.per_period, c.period, c.categories from mandate_order_limit_ceilings_v2(p_client_id) c) l
    cross join (select coalesce((select o.time_zone from order_limits o where o.grant_id = p_grant_id), 'UTC') as name) z $$;

-- Returns the categories that all limits permit, and those of the products that are in none of them. With `p_approved`, reads only the limits
-- that administrators set.
create function mandate_find_category_conflict_v1(p_grant_id text, p_client_id text, p_product_ids bigint[], p_approved boolean)
  returns jsonb stable parallel safe language sql as $$
  with limits as (
    select l.categories from mandate_spending_limits_v3(p_grant_id, p_client_id, now()) l
     where l.categories is not null and (not p_approved or l.set_by in ('application', 'shop'))
  ),
  permitted as (
    select c.category from (select distinct unnest(categories) as category from limits) c
     where not exists (select from limits l where c.category <> all (l.categories))
  )
  select jsonb_build_object(
           'categories', (select coalesce(jsonb_agg(category order by category), '[]') from permitted),
           'products', (select jsonb_agg(jsonb_build_object('product_id', p.id, 'category', p.category) order by p.id) from products p
                         where p.id = any (p_product_ids) and p.category not in (select category from permitted))) $$;

-- Returns the limit that an order with these products exceeds, or null. `p_added` is the part of the total that does not count toward the
-- budget yet. With `p_approved`, checks only the limits that administrators set.
create function mandate_find_exceeded_limit_v3(
  p_grant_id text, p_client_id text, p_product_ids bigint[], p_currency text, p_total numeric, p_added numeric, p_at timestamptz,
  p_approved boolean)
  returns jsonb stable parallel safe language sql as $$
  select case e.exceeded
           when 'categories' then jsonb_build_object('limit', e.exceeded, 'set_by', l.set_by)
             || mandate_find_category_conflict_v1(p_grant_id, p_client_id, p_product_ids, p_approved)
           else jsonb_build_object('limit', e.exceeded, 'set_by', l.set_by, 'currency', l.currency, 'per_order', l.per_order,
                                   'per_period', l.per_period, 'period', l.period, 'spent', l.spent, 'valid_until', null,
                                   'period_ends_at', l.period_ends_at) end
    from mandate_spending_limits_v3(p_grant_id, p_client_id, p_at) l
    cross join lateral (select case when l.categories is not null and exists (
                                           select from products p where p.id = any (p_product_ids) and p.category <> all (l.categories))
                                    then 'categories'
                                    when l.currency <> p_currency then 'currency'
                                    when p_total > l.per_order then 'per_order'
                                    when l.spent + p_added > l.per_period then 'per_period' end as exceeded) e
   where e.exceeded is not null and (not p_approved or l.set_by in ('application', 'shop'))
   -- Of two limits for categories, an administrator's is named, because customers cannot change it.
   order by array_position(array['categories', 'currency', 'per_order', 'per_period'], e.exceeded),
            case e.exceeded when 'categories' then (l.set_by not in ('application', 'shop'))::int
                            when 'per_order' then l.per_order when 'per_period' then l.per_period - l.spent end
   limit 1 $$;

-- Like version 1, with ceilings that contain only categories.
create function mandate_lock_order_limits_v2(p_grant_id text, p_client_id text) returns order_limits language plpgsql as $$
declare
  locked order_limits;
begin
  perform pg_advisory_xact_lock_shared(7411890), pg_advisory_xact_lock_shared(hashtextextended(p_grant_id, 7411891));
  select * into locked from order_limits where grant_id = p_grant_id for no key update;
  if found or not exists (select from mandate_order_limit_ceilings_v2(p_client_id)) then return locked; end if;
  perform from connections where grant_id = p_grant_id for key share;
  if not found then return null; end if;
  insert into order_limits (grant_id, actions, set_by_user) values (p_grant_id, '{place,pay,cancel}', false) on conflict (grant_id) do nothing;
  select * into locked from order_limits where grant_id = p_grant_id for no key update;
  return locked;
end
$$;

-- Returns the given categories that have no products for sale.
create function mandate_find_unknown_categories_v1(p_categories text[]) returns text[] stable parallel safe language sql as $$
  select coalesce(array_agg(c.category order by c.category), '{}') from unnest(p_categories) c (category)
   where not exists (select from products p where p.category = c.category and p.status = 'active') $$;
