import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { endpointEventPairSqlBuildersByReason } from '../endpoints/select-permitted-endpoint-event-pairs.sql.ts';

type HeldRows = { readonly endpoint: boolean; readonly application: boolean; readonly people: boolean; readonly grants: boolean };

// Written in SQL because MikroORM does not support FOR KEY SHARE, and because one statement takes all locks. SKIP LOCKED never waits for a
// lock, so a deadlock with a revocation is impossible. When a grant is revoked, its row is deleted.
export const lockWebhookAuthorizationRows = prepareStatement<HeldRows>(
  'lock_webhook_authorization',
  `with endpoint as (select e.id, e.application_id, e.user_id, e.client_id, e.authority from webhook_endpoints e where e.id = $1),
        e as (select id from webhook_endpoints where id = $1 for share skip locked),
        a as (select id from applications where id = (select application_id from endpoint) for share skip locked),
        whose as (select user_id from endpoint where user_id is not null union select user_id from events where id = $2 and user_id is not null),
        u as (select id from users where id in (select user_id from whose) for share skip locked),
        given as (select c.grant_id from connections c join endpoint on c.client_id = endpoint.client_id
                   where endpoint.authority in ('application', 'grant') and c.user_id in (select user_id from whose)),
        g as (select id from oauth_records where model = 'Grant' and id in (select grant_id from given) for key share skip locked)
   select exists (select 1 from e) as endpoint,
          (select application_id is null from endpoint) or exists (select 1 from a) as application,
          (select count(*) from u) = (select count(*) from whose) as people,
          (select count(*) from g) = (select count(*) from oauth_records o where o.model = 'Grant' and o.id in (select grant_id from given)) as grants,
          set_config('synchronous_commit', 'off', true) as lazily`,
);
// Written in SQL because the condition is shared with the SQL that selects deliveries.
const createCheck = (kind: keyof typeof endpointEventPairSqlBuildersByReason) =>
  prepareStatement<{ allowed: boolean }>(
    `check_webhook_authorization_${kind}`,
    `select exists (select 1 from (${endpointEventPairSqlBuildersByReason[kind]('v.id = $2 and e.id = $1')}) pairs where status = 'enabled') as allowed`,
  );
export const deliveryAuthorizationQueriesByReason = {
  own: createCheck('own'),
  granted: createCheck('granted'),
  ownerless: createCheck('ownerless'),
  unrestricted: createCheck('unrestricted'),
};
