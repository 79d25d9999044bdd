import { z } from 'zod';
import { revokeApiKeys, type ApiKeyRevocationCause } from '../../api-keys/revoke-api-keys.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { deleteRevokedConnectedApps } from './grant-events.ts';

type PreapprovedGrant = { readonly grant_id: string; readonly scopes: string[]; readonly payload: string };

// Locks the grants first, because a request that is issuing a token for a grant holds a lock on that grant.
const lockPreapprovedGrants = prepareStatement<PreapprovedGrant>(
  'lock_preapproved_grants',
  `select c.grant_id, array(select unnest(c.preapproved_scopes) intersect select unnest($2::text[])) as scopes, g.payload
   from connections c join oauth_records g on g.model = 'Grant' and g.id = c.grant_id
   where c.client_id = $1 and c.preapproved_scopes && $2::text[] order by c.grant_id for update of g`,
);
const deleteGrants = prepareStatement(
  'delete_preapproved_grants',
  `delete from oauth_records where model = 'Grant' and id = any($1::text[])`,
);
const deleteRecords = prepareStatement('delete_oauth_records_of_grants', 'delete from oauth_records where grant_id = any($1::text[])');
const narrowGrants = prepareStatement(
  'reduce_grant_scopes',
  `update oauth_records g set payload = narrowed.payload from unnest($1::text[], $2::text[]) narrowed (id, payload)
   where g.model = 'Grant' and g.id = narrowed.id`,
);
const narrowConnections = prepareStatement(
  'reduce_connected_app_scopes',
  `update connections c set scopes = array(select s from unnest(c.scopes) s where s <> all($2::text[]) or s <> all(c.preapproved_scopes)),
     preapproved_scopes = array(select s from unnest(c.preapproved_scopes) s where s <> all($2::text[]))
   where c.grant_id = any($1::text[])`,
);
// Access tokens contain their scopes, so the tokens are deleted; the next refresh issues a token with the remaining scopes.
const deleteAccessTokens = prepareStatement(
  'delete_access_tokens_of_grants',
  `delete from oauth_records where model = 'AccessToken' and grant_id = any($1::text[])`,
);

/**
 * Revokes access that was based on a withdrawn preapproval: grants that consist only of the withdrawn scopes, the withdrawn scopes in other
 * grants, and API keys that were created with them. Users are asked for consent at their next sign-in. Call this in a transaction that has
 * locked the application.
 */
export async function revokePreapprovedAccess(
  em: EntityManager,
  clientId: string,
  withdrawn: readonly string[],
  by: Omit<ApiKeyRevocationCause, 'reason'>,
  now: Date,
): Promise<void> {
  const narrowed = (await lockPreapprovedGrants(em, [clientId, withdrawn])).map(({ grant_id: id, scopes, payload }) => ({
    id,
    ...withoutScopes(payload, new Set(scopes)),
  }));
  const revokedIds = narrowed.filter(({ isEmpty }) => isEmpty).map(({ id }) => id);
  await deleteGrants(em, [revokedIds]);
  await deleteRecords(em, [revokedIds]);
  await deleteRevokedConnectedApps(em, 'grant_id', ...revokedIds);
  const remaining = narrowed.filter(({ isEmpty }) => !isEmpty);
  const remainingIds = remaining.map(({ id }) => id);
  await narrowGrants(em, [remainingIds, remaining.map(({ payload }) => payload)]);
  await narrowConnections(em, [remainingIds, withdrawn]);
  await deleteAccessTokens(em, [remainingIds]);
  await revokeApiKeys(em, { clientId, preapproved: withdrawn }, { ...by, reason: 'preapproval_withdrawn' }, now);
}

const scopeText = z.string().default('');
const grantPayload = z
  .object({ openid: z.object({ scope: scopeText }).passthrough().default({}), resources: z.record(scopeText).default({}) })
  .passthrough();

/** Returns the grant payload without these scopes, and whether no access remains. */
function withoutScopes(payload: string, withdrawn: ReadonlySet<string>): { readonly payload: string; readonly isEmpty: boolean } {
  const { openid, resources, ...grant } = grantPayload.parse(JSON.parse(payload));
  const remainingScopes = (scopes: string): string =>
    scopes
      .split(' ')
      .filter((scope) => !withdrawn.has(scope))
      .join(' ');
  const narrowed = {
    ...grant,
    openid: { ...openid, scope: remainingScopes(openid.scope) },
    resources: Object.fromEntries(Object.entries(resources).map(([resource, scopes]) => [resource, remainingScopes(scopes)])),
  };
  // `offline_access` alone grants no access
  return { payload: JSON.stringify(narrowed), isEmpty: ['', 'offline_access'].includes(narrowed.openid.scope) };
}
