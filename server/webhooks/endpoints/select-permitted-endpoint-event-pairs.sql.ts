import { eventSubjectDefinitions, scopeNames, scopeDefinitions, type Scope } from '@mandate/contract';
import { buildEventOfClientConditionSql } from '../../events/build-event-of-client-condition.sql.ts';

// Written in SQL because a single query checks many endpoint-event pairs against scopes, grants and tokens, instead of one query per pair.

/**
 * SQL expressions for two scope arrays, which contain the granted scopes and the currently allowed scopes. A scope is effective if both
 * arrays contain it.
 */
type Given = { readonly scopes: string; readonly ceiling: string };

const has = ({ scopes: given, ceiling }: Given, scope: string): string => `('${scope}' = any(${given}) and '${scope}' = any(${ceiling}))`;
const never = 'false';
const among = (conditions: readonly string[]): string => (conditions.length === 0 ? never : `(${conditions.join(' or ')})`);
const bySubject = (condition: (subject: string, own: Scope | null, all: readonly Scope[]) => string): string =>
  `case v.subject_type ${Object.entries(eventSubjectDefinitions)
    .map(([subject, { own, all }]) => `when '${subject}' then ${condition(subject, own, all)}`)
    .join(' ')} else false end`;

const adminScopes = `'{${scopeNames.filter((name) => scopeDefinitions[name].admin).join(',')}}'::text[]`;
const tasksNeeds = ({ scopes: given, ceiling }: Given, beyond: string): string =>
  `exists (select 1 from tasks t where t.id = v.subject_id and t.needs <@ ${given} and t.needs <@ ${ceiling} and (${beyond} or not t.needs && ${adminScopes}))`;

/**
 * SQL condition for the events that an endpoint can receive because its user owns them. The calling query must join each event with its
 * owner.
 */
const personal = (given: Given, beyond: string): string =>
  bySubject((subject, own) => {
    if (own === null || subject === 'webhook_endpoint') return never;
    return subject === 'task' ? `${has(given, own)} and ${tasksNeeds(given, beyond)}` : has(given, own);
  });

/**
 * SQL condition for the events that an endpoint can receive regardless of who owns them. `beyond` is SQL that tests whether scopes also
 * apply to resources of other users.
 */
const general = (given: Given, beyond: string): string =>
  bySubject((subject, own, all) => {
    const unrestricted = `(${beyond} and ${among(all.map((scope) => has(given, scope)))})`;
    if (subject === 'product') return `(v.data ->> 'status' <> 'draft' or ${unrestricted})`;
    if (subject === 'task' && own !== null) {
      return `(e.authority = 'application' and v.user_id is null and v.data ->> 'client_id' = e.client_id and ${has(given, own)} and ${tasksNeeds(given, beyond)})`;
    }
    return unrestricted;
  });

// An endpoint receives its own test events, but not the events about its deactivation.
const wanted = `case when v.subject_type = 'webhook_endpoint' then v.type = 'webhook_endpoint.test' and v.subject_id = e.id
  else e.events && array['*', v.subject_type || '.*', v.type] end`;

/**
 * SQL condition that a connected app (`alias`) is active, as on the account page. An app is active if its grant is valid and has a valid
 * token.
 */
const buildLiveGrantSql = (alias: string): string => `${alias}.last_used_at is not null
  and exists (select 1 from oauth_records g where g.model = 'Grant' and g.id = ${alias}.grant_id and g.expires_at > now())
  and exists (select 1 from oauth_records o where o.grant_id = ${alias}.grant_id and o.model in ('RefreshToken', 'AccessToken')
              and o.consumed_at is null and o.expires_at > now())`;
const liveGrant = buildLiveGrantSql('c');

const liveKey = 'exists (select 1 from api_keys k where k.id = e.api_key_id and k.revoked_at is null and k.expires_at > now())';
const liveConnection = `exists (select 1 from connections c where c.user_id = e.user_id and c.client_id = e.client_id and ${liveGrant})`;

/**
 * SQL condition that the application, user, grant or API key on which an endpoint's access is based is still valid. `a` and `u` are the
 * endpoint's application and user, if any.
 */
export const isEndpointAccessStillValidSql = `case e.authority
  when 'application' then a.status = 'active' and 'client_credentials' = any(a.grant_types)
  when 'person' then u.status = 'active'
  when 'api_key' then u.status = 'active' and ${liveKey}
  when 'grant' then u.status = 'active' and a.status = 'active' and ${liveConnection} end`;

const userScopes: Given = { scopes: 'e.scopes', ceiling: 'e.scopes' };
const endpointScopes: Given = { scopes: 'e.scopes', ceiling: `(case e.authority when 'application' then a.scopes else e.scopes end)` };
// With a user's grant, an application receives only the user's own events, even if the user's role permits more.
const endpointReachesBeyond = `(case e.authority when 'application' then true when 'grant' then false else u.role <> 'customer' end)`;
const grantScopes: Given = { scopes: 'c.scopes', ceiling: 'a.scopes' };

/**
 * SQL condition that the event has no order, or that the endpoint may receive events of this order. An endpoint serves all devices on which
 * the user has connected the application. If the application can access only its own orders on any of these devices, the same restriction
 * applies to the endpoint. If such a device registered the endpoint, the restriction remains even after the device has been disconnected.
 */
const isAllowedOrder = `((not e.own_orders_only and not exists (
    select 1 from connections r join order_limits l on l.grant_id = r.grant_id and l.own_orders_only
     where r.user_id = c.user_id and r.client_id = c.client_id and ${buildLiveGrantSql('r')}))
  or ${buildEventOfClientConditionSql('c.client_id')})`;

const unrestrictedScopes = `'{${[...new Set(Object.values(eventSubjectDefinitions).flatMap(({ all }) => all))].join(',')}}'::text[]`;

const pair = 'e.id as endpoint_id, v.id as event_id, v.seq, e.status';

/**
 * SQL that selects the endpoint-event pairs for which the endpoint can receive the event regardless of who owns it. `narrowed` is a
 * condition on only the event or only the endpoint, which avoids a full cross join.
 */
const pairsRegardlessOfOwner = (eventCondition: string, narrowed: string): string => `
  select ${pair} from events v
    cross join webhook_endpoints e
    left join applications a on a.id = e.application_id
    left join users u on u.id = e.user_id
   where ${eventCondition} and ${narrowed} and ${wanted} and ${isEndpointAccessStillValidSql}
     and (v.subject_type = 'webhook_endpoint' or ${general(endpointScopes, endpointReachesBeyond)})`;

/**
 * SQL that selects matching endpoint-event pairs (`endpoint_id`, `event_id`, `seq`, the endpoint's `status`). A pair matches if the
 * endpoint subscribes to the event and may currently read the subject. There is one query for each reason why an endpoint may receive an
 * event: its user owns the event (`own`), the owner of the event granted access (`granted`), the event has no owner (`ownerless`), or the
 * endpoint may receive the events of all users (`unrestricted`). `eventCondition` is an SQL condition on the event (alias `v`) and the
 * endpoint (alias `e`).
 */
export const endpointEventPairSqlBuildersByReason = {
  own: (eventCondition: string): string => `
    select ${pair} from events v
      join webhook_endpoints e on e.user_id = v.user_id and e.authority in ('person', 'api_key')
      join users u on u.id = e.user_id and u.status = 'active'
     where ${eventCondition} and ${wanted} and (e.authority = 'person' or ${liveKey}) and ${personal(userScopes, `u.role <> 'customer'`)}`,
  granted: (eventCondition: string): string => `
    select ${pair} from events v
      join users u on u.id = v.user_id and u.status = 'active'
      join connections c on c.user_id = v.user_id
      join webhook_endpoints e on e.client_id = c.client_id and (e.authority = 'application' or (e.authority = 'grant' and e.user_id = c.user_id))
      join applications a on a.id = e.application_id and a.status = 'active'
     where ${eventCondition} and ${wanted} and ${liveGrant} and ${personal(grantScopes, 'false')} and ${isAllowedOrder}`,
  ownerless: (eventCondition: string): string =>
    pairsRegardlessOfOwner(eventCondition, `(v.user_id is null or v.subject_type = 'webhook_endpoint')`),
  unrestricted: (eventCondition: string): string => pairsRegardlessOfOwner(eventCondition, `e.scopes && ${unrestrictedScopes}`),
};

/** SQL that selects all endpoint-event pairs without duplicates. */
export const buildAllEndpointEventPairsSql = (eventCondition: string): string =>
  Object.values(endpointEventPairSqlBuildersByReason)
    .map((sql) => sql(eventCondition))
    .join(' union ');
