import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import { revokeApiKeys, type ApiKeyRevocationCause } from '../../api-keys/revoke-api-keys.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import { ConnectedAppEntity } from './connected-app.entity.ts';
import { deleteRevokedGrantDataAndRecordEvents } from './delete-apps-and-limits-of-revoked-grants.ts';

/** Maximum number of grants per statement. */
const batchSize = 1_000;

/**
 * Revokes all access that is based on a withdrawn preapproval: deletes grants that consist only of withdrawn scopes, removes the withdrawn
 * scopes from other grants, and revokes the API keys that were created with these scopes. Users are asked for consent at their next
 * sign-in. Call this in a transaction that has locked the application.
 */
export async function revokeAccessOfWithdrawnPreapproval(
  em: EntityManager,
  clientId: string,
  withdrawn: readonly string[],
  by: Omit<ApiKeyRevocationCause, 'reason'>,
  now: Date,
): Promise<void> {
  const where = { clientId, preapprovedScopes: { $overlap: [...withdrawn] } };
  const apps = await em.find(ConnectedAppEntity, where, { fields: ['grantId'], orderBy: { grantId: 'asc' }, disableIdentityMap: true });
  const grantIds = apps.map(({ grantId }) => grantId);
  for (let from = 0; from < grantIds.length; from += batchSize) {
    await withdrawFromGrants(em, grantIds.slice(from, from + batchSize), new Set(withdrawn));
  }
  await revokeApiKeys(em, { clientId, preapproved: withdrawn }, { ...by, reason: 'preapproval_withdrawn' }, now);
}

async function withdrawFromGrants(em: EntityManager, grantIds: string[], withdrawn: ReadonlySet<string>): Promise<void> {
  // Locks the grants first, so that this transaction waits for requests that are issuing tokens for these grants.
  const inOrder = { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const grants = await em.find(OauthRecord, { model: 'Grant', id: { $in: grantIds } }, inOrder);
  const apps = await em.find(ConnectedAppEntity, { grantId: { $in: grants.map(({ id }) => id) } }, { refresh: true });
  const appsByGrant = new Map(apps.map((app) => [app.grantId, app]));
  const [revokedIds, remainingIds]: [string[], string[]] = [[], []];
  for (const grant of grants) {
    const app = appsByGrant.get(grant.id);
    const preapproved = app?.preapprovedScopes ?? [];
    const narrowed = withoutScopes(grant.payload, new Set(preapproved.filter((scope) => withdrawn.has(scope))));
    if (narrowed.isEmpty) {
      revokedIds.push(grant.id);
      continue;
    }
    remainingIds.push(grant.id);
    grant.payload = narrowed.payload;
    if (!app) continue;
    app.scopes = app.scopes.filter((scope) => !withdrawn.has(scope) || !preapproved.includes(scope));
    app.preapprovedScopes = preapproved.filter((scope) => !withdrawn.has(scope));
  }
  await em.flush();
  // Deletes the access tokens, because issued tokens still contain the withdrawn scopes. The next refresh issues a token with the remaining
  // scopes.
  await em.nativeDelete(OauthRecord, { model: 'AccessToken', grantId: { $in: remainingIds } });
  await em.nativeDelete(OauthRecord, { model: 'Grant', id: { $in: revokedIds } });
  await em.nativeDelete(OauthRecord, { grantId: { $in: revokedIds } });
  await deleteRevokedGrantDataAndRecordEvents(em, { grantId: { $in: revokedIds } });
}

const scopeText = z.string().default('');
const grantPayload = z
  .object({ openid: z.object({ scope: scopeText }).passthrough().default({}), resources: z.record(scopeText).default({}) })
  .passthrough();

/** Removes the withdrawn scopes from a grant payload. `isEmpty` is true if the remaining scopes grant no access. */
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
  // The scope `offline_access` alone grants no access.
  return { payload: JSON.stringify(narrowed), isEmpty: ['', 'offline_access'].includes(narrowed.openid.scope) };
}
