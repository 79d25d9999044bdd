-- The spending limits of a grant or API key, which orders and payments check, and which responses show. All limits apply: those that the
-- customer set, the ceiling of the application, and the maximum that the shop set for applications that are not its own.

create function mandate_order_limit_ceilings_v1(p_client_id text)
  returns table (set_by text, currency text, per_order bigint, per_period bigint, period text) stable parallel safe language sql as $$
  select c.set_by, c.ceiling ->> 'currency', (c.ceiling ->> 'per_order')::bigint, (c.ceiling ->> 'per_period')::bigint, c.ceiling ->> 'period'
    from (select 'application' as set_by, a.order_limits_ceiling as ceiling from applications a where a.client_id = p_client_id
          union all
          select 'shop', s.maximum_limits from applications a join order_limit_settings s on s.id = 1
           where a.client_id = p_client_id and not a.first_party) c
   where c.ceiling is not null $$;

create function mandate_spending_limits_v1(p_grant_id text, p_client_id text, p_at timestamptz)
  returns table (set_by text, currency text, per_order bigint, per_period bigint, period text,
                 period_starts_at timestamptz, period_ends_at timestamptz, time_zone text, spent bigint)
  stable parallel safe language sql as $$
  select l.set_by, l.currency, l.per_order, l.per_period, l.period,
         mandate_budget_starts_v1(l.period, z.name, p_at), mandate_budget_ends_v1(l.period, z.name, p_at), z.name,
         case when l.period is not null then
           mandate_budget_spent_v1(p_grant_id, l.currency, mandate_budget_starts_v1(l.period, z.name, p_at)) end
    from (select case when p_grant_id like 'api-key-%' then 'api_key' else 'customer' end as set_by, o.currency::text, o.per_order, o.per_period, o.period
            from order_limits o where o.grant_id = p_grant_id and o.currency is not null
          union all
          select c.set_by, c.currency, c.per_order, c.per_period, c.period from mandate_order_limit_ceilings_v1(p_client_id) c) l
    cross join (select coalesce((select o.time_zone from order_limits o where o.grant_id = p_grant_id), 'UTC') as name) z $$;

-- Returns the spending limit that an amount exceeds, or null. `p_added` is the part of the total that does not count toward the budget yet.
create function mandate_find_exceeded_limit_v1(
  p_grant_id text, p_client_id text, p_currency text, p_total numeric, p_added numeric, p_at timestamptz)
  returns jsonb stable parallel safe language sql as $$
  select jsonb_build_object('limit', e.exceeded, 'set_by', l.set_by, 'currency', l.currency, 'per_order', l.per_order,
                            'per_period', l.per_period, 'period', l.period, 'spent', l.spent, 'valid_until', null,
                            'period_ends_at', l.period_ends_at)
    from mandate_spending_limits_v1(p_grant_id, p_client_id, p_at) l
    cross join lateral (select case when l.currency <> p_currency then 'currency'
                                    when p_total > l.per_order then 'per_order'
                                    when l.spent + p_added > l.per_period then 'per_period' end as exceeded) e
   where e.exceeded is not null
   order by array_position(array['currency', 'per_order', 'per_period'], e.exceeded),
            case e.exceeded when 'per_order' then l.per_order when 'per_period' then l.per_period - l.spent end
   limit 1 $$;

-- Locks a grant's limits, so that its orders and payments are checked one after the other, and returns them. Creates the row if only
-- administrators limit the grant: without the row, there would be nothing to lock. The lock on the connection makes a concurrent revocation
-- wait. Returns null if nothing limits the grant, or if the grant has been revoked.
-- Before the first limits are set, there is no row that could be locked. The shared advisory locks make a change of the limits wait for the
-- orders and payments that have already been checked. They write nothing, unlike row locks. Their keys are those of
-- `lock-changes-of-order-limits.ts`.
create function mandate_lock_order_limits_v1(p_grant_id text, p_client_id text) returns order_limits language plpgsql as $$
declare
  locked order_limits;
begin
  perform pg_advisory_xact_lock_shared(7411890), pg_advisory_xact_lock_shared(hashtextextended(p_grant_id, 7411891));
  select * into locked from order_limits where grant_id = p_grant_id for no key update;
  if found or not exists (select from mandate_order_limit_ceilings_v1(p_client_id)) then return locked; end if;
  perform from connections where grant_id = p_grant_id for key share;
  if not found then return null; end if;
  insert into order_limits (grant_id, actions, set_by_user) values (p_grant_id, '{place,pay,cancel}', false) on conflict (grant_id) do nothing;
  select * into locked from order_limits where grant_id = p_grant_id for no key update;
  return locked;
end
$$;
