import type { ConnectedApp } from '@mandate/contract';
import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { revokeApiKeys } from '../../api-keys/revoke-api-keys.ts';
import { Application } from '../../applications/application.entity.ts';
import { recordAuditEvent, type RequestSource } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../../events/record-event.ts';
import { describeUserAgent } from '../sessions/describe-user-agent.ts';
import type { LinkedAccountOfSignIn } from '../sessions/linked-account-of-sign-in.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { filterApiScopes } from '../protocol/oauth-scopes.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import { ConnectedAppEntity } from './connected-app.entity.ts';
import { connectedAppResponseFromFields, findApplicationsOfConnectedApps } from './connected-app-response-and-applications.ts';
import { insertConnectedApp, upsertConnectedAppUse, upsertConnectedAppUseOnRefresh } from './insert-connected-app-and-upsert-use.sql.ts';
import { deleteStoredConsent } from './delete-stored-consent.ts';
import { deleteRevokedGrantDataAndRecordEvents } from './delete-apps-and-limits-of-revoked-grants.ts';

type NewConnectedApp = {
  readonly grantId: string;
  readonly userId: number;
  readonly clientId: string;
  readonly preapprovedScopes?: readonly string[];
  /** The browser session in which the user granted access. */
  readonly sessionUid: string | undefined;
  /** The linked account of the sign-in that this request completes; undefined if the user was already signed in. */
  readonly signIn?: LinkedAccountOfSignIn | undefined;
};

/**
 * Stores a connected app: the application to which a user has granted access, and the user's device. The application is listed once it has
 * requested its first token. `preapprovedScopes` are the scopes that the user was not asked to consent to.
 */
export async function storeConnectedApp(
  em: EntityManager,
  { grantId, userId, clientId, preapprovedScopes = [], sessionUid, signIn }: NewConnectedApp,
  userAgent: string | undefined,
  now: Date,
): Promise<void> {
  const session = signIn === undefined ? (sessionUid ?? null) : null;
  const device = describeUserAgent(userAgent);
  await insertConnectedApp(em, [grantId, userId, clientId, device, now, preapprovedScopes, session, signIn?.linkedAccountId ?? null]);
}

const providerContext = z.custom<KoaContextWithOIDC>();

/**
 * Records in the request transaction that an application has received a token. For the first token of a grant, also records the event
 * `grant.created`.
 */
export const recordConnectedAppUseAndGrantCreated =
  (em: EntityManager): Middleware =>
  async (ctx, next) => {
    await next();
    if (ctx.path !== oauthEndpointPaths.token || ctx.status !== 200) return;
    const { entities, params } = providerContext.parse(ctx).oidc;
    const { Grant: grant } = entities;
    const { accountId, clientId } = grant ?? {};
    if (!grant || accountId === undefined || clientId === undefined) return;
    const scopes = filterApiScopes(grant.getOIDCScope().split(' '));
    const [userId, now] = [Number(accountId), new Date()];
    const use = [grant.jti, userId, clientId, now, scopes];
    // The first access token was issued together with the refresh token, so this token is not the first one.
    if (params?.['grant_type'] === 'refresh_token') return upsertConnectedAppUseOnRefresh(em, use);
    const [used] = await upsertConnectedAppUse(em, use);
    if (!used?.first) return;
    const app = connectedAppResponseFromFields({ ...used, clientId, scopes, lastUsedAt: now }, used.application ?? undefined);
    await recordEvent(em, 'grant.created', app, userId);
  };

/** Lists the applications that can currently act on the user's behalf, newest first. */
export async function listConnectedAppsOfUser(
  em: EntityManager,
  userId: number,
  now: Date,
  before: number | null,
  limit: number,
): Promise<ConnectedApp[]> {
  const apps = await findActiveApps(em, userId, now, before, limit);
  const grantIds = apps.map(({ grantId }) => grantId);
  const grants = await em.find(OauthRecord, { model: 'Grant', id: { $in: grantIds } }, { disableIdentityMap: true });
  const payloads = new Map(grants.map(({ id, payload }) => [id, payload]));
  const applications = await findApplicationsOfConnectedApps(em, apps);
  return apps.flatMap((app) => {
    const payload = payloads.get(app.grantId);
    if (payload === undefined) return []; // revoked in the meantime
    return [connectedAppResponseFromFields({ ...app, scopes: grantedScopes(payload) }, applications.get(app.clientId))];
  });
}

/**
 * Finds the connected apps whose grants have a valid token. Rows without a valid token remain after a grant has expired, until
 * `deleteOrphanedGrantRowsAndSessionsBatch` deletes them.
 */
function findActiveApps(em: EntityManager, userId: number, now: Date, before: number | null, limit: number) {
  const recordsOfUser = { accountId: String(userId), expiresAt: { $gt: now } };
  const grantIds = em
    .createQueryBuilder(OauthRecord)
    .select('id')
    .where({ ...recordsOfUser, model: 'Grant' });
  const grantIdsOfTokens = em
    .createQueryBuilder(OauthRecord)
    .select('grantId')
    .where({ ...recordsOfUser, model: { $in: ['RefreshToken', 'AccessToken'] }, consumedAt: null });
  const activeClientIds = em.createQueryBuilder(Application).select('clientId').where({ status: 'active' });
  return em.find(
    ConnectedAppEntity,
    {
      user: userId,
      lastUsedAt: { $ne: null },
      clientId: { $in: activeClientIds.toRaw() },
      $and: [{ grantId: { $in: grantIds.toRaw() } }, { grantId: { $in: grantIdsOfTokens.toRaw() } }],
      ...(before !== null && { id: { $lt: before } }),
    },
    { orderBy: { id: 'desc' }, limit, disableIdentityMap: true },
  );
}

const scopeSet = z.object({ scope: z.string().default('') }).default({});
const grantPayload = z.object({ openid: scopeSet, rejected: z.object({ openid: scopeSet }).default({}) });

function grantedScopes(payload: string): string[] {
  const { openid, rejected } = grantPayload.parse(JSON.parse(payload));
  const refused = new Set(rejected.openid.scope.split(' '));
  return openid.scope.split(' ').filter((scope) => scope !== '' && !refused.has(scope));
}

/** Returns the application name of one of the user's connected apps, or undefined if the user has no such app. */
export async function findNameOfConnectedApp(em: EntityManager, userId: number, id: number): Promise<string | undefined> {
  const app = await em.findOne(ConnectedAppEntity, { id, user: userId }, { disableIdentityMap: true });
  if (!app) return undefined;
  const applications = await findApplicationsOfConnectedApps(em, [app]);
  return applications.get(app.clientId)?.name ?? app.clientId;
}

export type RevokeConnectedAppOptions = {
  readonly source: RequestSource;
  /** Client ID of the application through which the user revokes access; undefined for a revocation on the account pages. */
  readonly by: string | undefined;
  /** IDs of the API keys to keep, out of those that were created through the application; `all` keeps every key. */
  readonly keepApiKeys: readonly number[] | 'all';
};

/**
 * Revokes an application's access on one device, and the user's consent. Also revokes the API keys that were created through the
 * application on any device, except keys that the user chooses to keep. Returns false if the user has no such connected app. Call this in a
 * transaction.
 */
export async function revokeGrantConsentAndApiKeys(
  em: EntityManager,
  userId: number,
  id: number,
  { source, by, keepApiKeys }: RevokeConnectedAppOptions,
  now: Date,
): Promise<boolean> {
  const found = await em.findOne(ConnectedAppEntity, { id, user: userId }, { disableIdentityMap: true });
  if (!found) return false;
  const { grantId, clientId } = found;
  // Deletes the grant first. A request that is issuing a token has locked its grant, so this statement waits until that request has
  // finished.
  await em.nativeDelete(OauthRecord, { model: 'Grant', id: grantId });
  await em.nativeDelete(OauthRecord, { grantId });
  await deleteRevokedGrantDataAndRecordEvents(em, { grantId });
  await deleteStoredConsent(em, userId, clientId);
  if (keepApiKeys !== 'all') {
    const cause = { source, actorId: userId, clientId: by, reason: 'application_removed' } as const;
    await revokeApiKeys(em, { userId, clientId, except: keepApiKeys }, cause, now);
  }
  const details = { application: clientId, ...(keepApiKeys.length > 0 && { api_keys: 'kept' }) };
  await recordAuditEvent(
    em,
    source,
    { action: 'connected_app.removed', actorId: userId, userId, clientId: by, subject: `connected_app:${id}`, details },
    now,
  );
  return true;
}
