-- The replaced functions return the same results as before, but in PL/pgSQL: before version 18, PostgreSQL plans the query of an SQL function
-- again in every transaction. PL/pgSQL plans it once per connection.

create or replace function mandate_budget_spent_v2(p_grant_id text, p_currency text, p_since timestamptz, p_with_approved boolean)
  returns bigint stable parallel safe language plpgsql as $$
begin
  return (
    select coalesce(sum(o.total - o.refunded_total), 0)::bigint
      from budgeted_orders b join orders o on o.id = b.order_id
     where b.grant_id = p_grant_id and b.counted_at >= p_since and o.status <> 'canceled' and o.currency = p_currency
       and (p_with_approved or not b.approved));
end
$$;

-- Returns the name of the limit that an order exceeds (`currency`, `per_order` or `per_period`), or null. `p_spent` is null if there is no
-- budget. The function is a single expression, so that PostgreSQL can inline it.
create function mandate_find_exceeded_amount_v1(
  p_limit_currency text, p_per_order bigint, p_per_period bigint, p_spent bigint, p_currency text, p_total numeric, p_added numeric)
  returns text immutable parallel safe language sql as $$
  select case when p_limit_currency <> p_currency then 'currency'
              when p_total > p_per_order then 'per_order'
              when p_spent + p_added > p_per_period then 'per_period' end $$;

create or replace function mandate_find_exceeded_limit_v3(
  p_grant_id text, p_client_id text, p_product_ids bigint[], p_currency text, p_total numeric, p_added numeric, p_at timestamptz,
  p_approved boolean)
  returns jsonb stable parallel safe language plpgsql as $$
declare
  own order_limits;
begin
  -- Usually, only the customer has set limits, and the order is within them. This check takes a fraction of the time of the query below.
  if not exists (select from mandate_order_limit_ceilings_v2(p_client_id)) then
    if p_approved then return null; end if;
    select * into own from order_limits where grant_id = p_grant_id;
    if own.categories is null
       and mandate_find_exceeded_amount_v1(
             own.currency::text, own.per_order, own.per_period,
             case when own.period is not null then
               mandate_budget_spent_v2(p_grant_id, own.currency::text, mandate_budget_starts_v1(own.period, own.time_zone, p_at), false) end,
             p_currency, p_total, p_added) is null
    then
      return null;
    end if;
  end if;
  return (
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
                                      else mandate_find_exceeded_amount_v1(l.currency, l.per_order, l.per_period, l.spent,
                                                                           p_currency, p_total, p_added) end as exceeded) e
     where e.exceeded is not null and (not p_approved or l.set_by in ('application', 'shop'))
     -- Of two limits for categories, an administrator's is named, because customers cannot change it.
     order by array_position(array['categories', 'currency', 'per_order', 'per_period'], e.exceeded),
              case e.exceeded when 'categories' then (l.set_by not in ('application', 'shop'))::int
                              when 'per_order' then l.per_order when 'per_period' then l.per_period - l.spent end
     limit 1);
end
$$;
