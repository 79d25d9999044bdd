-- The spending limits of a grant or API key, with orders that the customer approved. An approval replaces only the limits that the customer
-- set: an approved order does not count toward the customer's budget, but toward the budgets that administrators set.

create function mandate_budget_spent_v2(p_grant_id text, p_currency text, p_since timestamptz, p_with_approved boolean) returns bigint
  stable parallel safe language sql as $$
  select coalesce(sum(o.total - o.refunded_total), 0)::bigint
    from budgeted_orders b join orders o on o.id = b.order_id
   where b.grant_id = p_grant_id and b.counted_at >= p_since and o.status <> 'canceled' and o.currency = p_currency
     and (p_with_approved or not b.approved) $$;

create function mandate_spending_limits_v2(p_grant_id text, p_client_id text, p_at timestamptz)
  returns table (set_by text, currency text, per_order bigint, per_period bigint, period text,
                 period_starts_at timestamptz, period_ends_at timestamptz, time_zone text, spent bigint)
  stable parallel safe language sql as $$
  select l.set_by, l.currency, l.per_order, l.per_period, l.period,
         mandate_budget_starts_v1(l.period, z.name, p_at), mandate_budget_ends_v1(l.period, z.name, p_at), z.name,
         case when l.period is not null then
           mandate_budget_spent_v2(p_grant_id, l.currency, mandate_budget_starts_v1(l.period, z.name, p_at),
                                   l.set_by in ('application', 'shop')) end
    from (select case when p_grant_id like 'api-key-%' then 'api_key' else 'customer' end as set_by,
                 o.currency::text, o.per_order, o.per_period, o.period
            from order_limits o where o.grant_id = p_grant_id and o.currency is not null
          union all
          select c.set_by, c.currency, c.per_order, c.per_period, c.period from mandate_order_limit_ceilings_v1(p_client_id) c) l
    cross join (select coalesce((select o.time_zone from order_limits o where o.grant_id = p_grant_id), 'UTC') as name) z $$;

-- Returns the spending limit that an amount exceeds, or null. `p_added` is the part of the total that does not count toward the budget yet.
-- With `p_approved`, checks only the limits that administrators set.
create function mandate_find_exceeded_limit_v2(
  p_grant_id text, p_client_id text, p_currency text, p_total numeric, p_added numeric, p_at timestamptz, p_approved boolean)
  returns jsonb stable parallel safe language sql as $$
  select jsonb_build_object('limit', e.exceeded, 'set_by', l.set_by, 'currency', l.currency, 'per_order', l.per_order,
                            'per_period', l.per_period, 'period', l.period, 'spent', l.spent, 'valid_until', null,
                            'period_ends_at', l.period_ends_at)
    from mandate_spending_limits_v2(p_grant_id, p_client_id, p_at) l
    cross join lateral (select case when l.currency <> p_currency then 'currency'
                                    when p_total > l.per_order then 'per_order'
                                    when l.spent + p_added > l.per_period then 'per_period' end as exceeded) e
   where e.exceeded is not null and (not p_approved or l.set_by in ('application', 'shop'))
   order by array_position(array['currency', 'per_order', 'per_period'], e.exceeded),
            case e.exceeded when 'per_order' then l.per_order when 'per_period' then l.per_period - l.spent end
   limit 1 $$;
