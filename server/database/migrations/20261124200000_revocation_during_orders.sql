-- Makes orders and payments that wait for the lock on the limits detect that the grant or API key has been revoked in the meantime.

create function mandate_is_grant_active_v1(p_grant_id text) returns boolean stable parallel safe language sql as $$
  select case when p_grant_id like 'api-key-%'
              then exists (select from api_keys where id = substr(p_grant_id, 9)::bigint and revoked_at is null)
              else exists (select from connections where grant_id = p_grant_id) end $$;

-- Both functions differ from their previous definitions only for API keys: a revoked key keeps the row with its limits, which lists of keys
-- show. These are not new versions of the functions, so that processes of the previous release, which call the same functions, reject such orders, too.
create or replace function mandate_lock_order_limits_v1(p_grant_id text, p_client_id text) returns order_limits language plpgsql as $$
declare
  locked order_limits;
begin
  perform pg_advisory_xact_lock_shared(7411890), pg_advisory_xact_lock_shared(hashtextextended(p_grant_id, 7411891));
  select * into locked from order_limits where grant_id = p_grant_id for no key update;
  if p_grant_id like 'api-key-%' and not mandate_is_grant_active_v1(p_grant_id) then return null; end if;
  if locked.grant_id is not null or not exists (select from mandate_order_limit_ceilings_v1(p_client_id)) then return locked; end if;
  perform from connections where grant_id = p_grant_id for key share;
  if not found then return null; end if;
  insert into order_limits (grant_id, actions, set_by_user) values (p_grant_id, '{place,pay,cancel}', false) on conflict (grant_id) do nothing;
  select * into locked from order_limits where grant_id = p_grant_id for no key update;
  return locked;
end
$$;

create or replace function mandate_lock_order_limits_v2(p_grant_id text, p_client_id text) returns order_limits language plpgsql as $$
declare
  locked order_limits;
begin
  perform pg_advisory_xact_lock_shared(7411890), pg_advisory_xact_lock_shared(hashtextextended(p_grant_id, 7411891));
  select * into locked from order_limits where grant_id = p_grant_id for no key update;
  if p_grant_id like 'api-key-%' and not mandate_is_grant_active_v1(p_grant_id) then return null; end if;
  if locked.grant_id is not null or not exists (select from mandate_order_limit_ceilings_v2(p_client_id)) then return locked; end if;
  perform from connections where grant_id = p_grant_id for key share;
  if not found then return null; end if;
  insert into order_limits (grant_id, actions, set_by_user) values (p_grant_id, '{place,pay,cancel}', false) on conflict (grant_id) do nothing;
  select * into locked from order_limits where grant_id = p_grant_id for no key update;
  return locked;
end
$$;
