import type { ConnectedApp } from '@mandate/contract';
import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { revokeApiKeys } from '../../api-keys/revoke-api-keys.ts';
import { recordAuditEvent, type RequestSource } from '../../audit/record-audit-event.ts';
import { timestampToRfc3339 } from '../../database/time/timestamp-to-rfc3339.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareDeferredStatement, prepareStatement } from '../../database/queries/prepared-statement.ts';
import { describeUserAgent } from '../sessions/user-agent-label.ts';
import { endpointPaths } from '../protocol/endpoints.ts';
import { deleteRevokedConnectedApps, recordGrantCreatedEvent } from './grant-events.ts';
import { filterApiScopes } from '../protocol/oauth-scopes.ts';

const insertConnection = prepareStatement(
  'insert_connected_app',
  `insert into connections (grant_id, user_id, client_id, device, created_at, preapproved_scopes) values ($1, $2, $3, $4, $5, $6::text[])
   on conflict (grant_id) do nothing`,
);

/**
 * Records an application to which a user has granted access, and the device. The application is listed once it has requested its first
 * token. `preapprovedScopes` are the scopes for which the user was not asked for consent.
 */
export async function createConnectedApp(
  em: EntityManager,
  {
    grantId,
    userId,
    clientId,
    preapprovedScopes = [],
  }: { grantId: string; userId: number; clientId: string; preapprovedScopes?: readonly string[] },
  userAgent: string | undefined,
  now: Date,
): Promise<void> {
  await insertConnection(em, [grantId, userId, clientId, describeUserAgent(userAgent), now, preapprovedScopes]);
}

const upsertUse = prepareStatement<{ first: boolean }>(
  'record_connected_app_use',
  `with before as (select last_used_at from connections where grant_id = $1)
   insert into connections (grant_id, user_id, client_id, created_at, last_used_at, scopes) values ($1, $2, $3, $4, $4, $5::text[])
   on conflict (grant_id) do update set last_used_at = excluded.last_used_at, scopes = excluded.scopes
   returning (select last_used_at from before) is null as first`,
);

const upsertRepeatedUse = prepareDeferredStatement(
  'record_repeated_connected_app_use',
  `insert into connections (grant_id, user_id, client_id, created_at, last_used_at, scopes) values ($1, $2, $3, $4, $4, $5::text[])
   on conflict (grant_id) do update set last_used_at = excluded.last_used_at, scopes = excluded.scopes`,
);

const providerContext = z.custom<KoaContextWithOIDC>();

/** Records, inside the request transaction, that an application has received a token. */
export const recordConnectedAppUse =
  (em: EntityManager): Middleware =>
  async (ctx, next) => {
    await next();
    if (ctx.path !== endpointPaths.token || ctx.status !== 200) return;
    const { entities, params } = providerContext.parse(ctx).oidc;
    const { Grant: grant } = entities;
    if (grant?.accountId === undefined || grant.clientId === undefined) return;
    const scopes = filterApiScopes(grant.getOIDCScope().split(' '));
    const use = [grant.jti, Number(grant.accountId), grant.clientId, new Date(), scopes];
    // the first access token was issued together with the refresh token
    if (params?.['grant_type'] === 'refresh_token') return upsertRepeatedUse(em, use);
    const [used] = await upsertUse(em, use);
    if (used?.first) await recordGrantCreatedEvent(em, grant.jti);
  };

type Row = Omit<ConnectedApp, 'application' | 'scopes'> & { client_id: string; name: string; first_party: boolean; payload: string };

// Rows without a valid token are left over from expired grants and are deleted by `deleteOrphanedRows`.
const findActiveConnections = prepareStatement<Row>(
  'list_connected_apps',
  `select c.id, a.client_id, a.name, a.first_party, c.device, c.created_at, c.last_used_at, g.payload
   from connections c
   join oauth_records g on g.model = 'Grant' and g.id = c.grant_id and g.expires_at > $2
   join applications a on a.client_id = c.client_id and a.status = 'active'
   where c.user_id = $1 and c.last_used_at is not null and ($3::bigint is null or c.id < $3)
     and exists (select 1 from oauth_records t where t.grant_id = c.grant_id and t.model in ('RefreshToken', 'AccessToken')
                 and t.consumed_at is null and t.expires_at > $2)
   order by c.id desc limit $4`,
);

/** Lists the applications that can currently act on the user's behalf, newest first. */
export async function listConnectedApps(
  em: EntityManager,
  userId: number,
  now: Date,
  before: number | null,
  limit: number,
): Promise<ConnectedApp[]> {
  const rows = await findActiveConnections(em, [userId, now, before, limit]);
  return rows.map(({ client_id: clientId, name, first_party: firstParty, payload, ...row }) => ({
    id: row.id,
    application: { client_id: clientId, name, first_party: firstParty },
    device: row.device,
    scopes: grantedScopes(payload),
    created_at: timestampToRfc3339(row.created_at),
    last_used_at: timestampToRfc3339(row.last_used_at),
  }));
}

const scopeSet = z.object({ scope: z.string().default('') }).default({});
const grantPayload = z.object({ openid: scopeSet, rejected: z.object({ openid: scopeSet }).default({}) });

function grantedScopes(payload: string): string[] {
  const { openid, rejected } = grantPayload.parse(JSON.parse(payload));
  const refused = new Set(rejected.openid.scope.split(' '));
  return openid.scope.split(' ').filter((scope) => scope !== '' && !refused.has(scope));
}

const findConnection = prepareStatement<{ grant_id: string; client_id: string }>(
  'find_connected_app',
  'select grant_id, client_id from connections where id = $1 and user_id = $2',
);
// Deletes the grant first: a request that is issuing a token for a grant holds a lock on that grant, so this statement waits for it.
const deleteGrant = prepareStatement('delete_grant', `delete from oauth_records where model = 'Grant' and id = $1`);
const deleteTokens = prepareStatement('delete_tokens_of_grant', 'delete from oauth_records where grant_id = $1');
const deleteConsent = prepareStatement(
  'delete_consent',
  'delete from consents c using applications a where c.application_id = a.id and c.user_id = $1 and a.client_id = $2',
);

export type RevokeConnectedAppOptions = {
  readonly source: RequestSource;
  /** Client ID of the application through which the user revokes access; undefined on the account pages. */
  readonly by: string | undefined;
  /** API keys created through the application that stay valid: a list of IDs, or `all`. */
  readonly keepApiKeys: readonly number[] | 'all';
};

/**
 * Revokes an application's access on one device, and the user's consent. Also revokes the API keys that were created through the
 * application on any device, except keys that the user keeps. Returns false if the user has no such connected app. Call this in a
 * transaction.
 */
export async function revokeConnectedApp(
  em: EntityManager,
  userId: number,
  id: number,
  { source, by, keepApiKeys }: RevokeConnectedAppOptions,
  now: Date,
): Promise<boolean> {
  const [found] = await findConnection(em, [id, userId]);
  if (!found) return false;
  await deleteGrant(em, [found.grant_id]);
  await deleteTokens(em, [found.grant_id]);
  await deleteRevokedConnectedApps(em, 'grant_id', found.grant_id);
  await deleteConsent(em, [userId, found.client_id]);
  if (keepApiKeys !== 'all') {
    const cause = { source, actorId: userId, clientId: by, reason: 'application_removed' } as const;
    await revokeApiKeys(em, { userId, clientId: found.client_id, except: keepApiKeys }, cause, now);
  }
  const details = { application: found.client_id, ...(keepApiKeys.length > 0 && { api_keys: 'kept' }) };
  await recordAuditEvent(
    em,
    source,
    { action: 'connected_app.removed', actorId: userId, userId, clientId: by, subject: `connected_app:${id}`, details },
    now,
  );
  return true;
}
