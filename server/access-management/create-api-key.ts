import { maxApiKeyLifetimeDays, maxApiKeysPerUser, type ApiKey as ApiKeyBody, type ApiKeyCreate, type Scope } from '@mandate/contract';
import { recordAuditEvent, type RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { requireRecentSignIn } from '../http/request/recent-sign-in-and-second-factor-checks.ts';
import { ConnectedAppEntity } from '../oauth/grants/connected-app.entity.ts';
import { OauthRecord } from '../oauth/storage/oauth-record.entity.ts';
import { assertLimitsEndInFuture } from '../order-limits/assert-limits-end-in-future.ts';
import { assertCategoriesHaveProductsForSale } from '../order-limits/product-categories-of-limits.ts';
import { assertNoOrderLimits } from '../order-limits/assert-order-action-allowed.ts';
import { lockUserRow } from '../users/lock-user-row.ts';
import { apiKeyFromEntity } from '../api-keys/api-key-from-entity.ts';
import { findOrderLimitsOfApiKeys, saveOrderLimitsOfApiKey } from '../api-keys/api-key-order-limits.ts';
import { ApiKey } from '../api-keys/api-key.entity.ts';
import { hashApiKey, generateApiKey, getDisplayPrefixOfApiKey } from '../api-keys/api-key-secret.ts';

const dayMs = 24 * 60 * 60 * 1000;
const defaultDays = 90;

/** Creates an API key; requires a transaction. The key is returned only once; the database stores its hash. */
export async function createApiKey(
  em: EntityManager,
  principal: Principal,
  userId: number,
  { name, scopes: requestedScopes, expires_at: expiresAt, order_limits: limits }: ApiKeyCreate,
  source: RequestSource,
  now: Date,
): Promise<ApiKeyBody & { key: string }> {
  const scopes = [...new Set<Scope>(requestedScopes)];
  assertScopesGranted(principal, scopes);
  assertNoOrderLimits(principal, 'create API keys');
  // An API key is valid for months and, unlike an access token, is never sender-constrained. Creating an API key therefore requires a
  // recent sign-in.
  requireRecentSignIn(principal, now);
  const expiry = expiresAt === undefined ? new Date(now.getTime() + defaultDays * dayMs) : new Date(expiresAt);
  assertValidExpiry(expiry, now);
  if (limits) assertLimitsEndInFuture(limits, now, '#/order_limits/valid_until');
  await assertCategoriesHaveProductsForSale(em, limits?.products?.categories ?? [], '#/order_limits/products/categories');
  await lockUserRow(em, userId); // the second of two concurrent requests must count the first request's key
  await assertTokenNotRevoked(em, principal);
  if ((await em.count(ApiKey, { user: userId, revokedAt: null, expiresAt: { $gt: now } })) >= maxApiKeysPerUser) {
    throw createProblem('too_many_api_keys', {
      detail: translatable`A user can have at most ${{ maximum: maxApiKeysPerUser }} API keys. Revoke one that is no longer needed.`,
    });
  }
  const key = generateApiKey();
  const { clientId } = principal;
  const created = em.create(ApiKey, {
    user: userId,
    name,
    prefix: getDisplayPrefixOfApiKey(key),
    secretHash: hashApiKey(key),
    scopes,
    createdByClientId: clientId,
    preapprovedScopes: await readPreapprovedScopes(em, principal, scopes),
    createdAt: now,
    expiresAt: expiry,
  });
  await em.persist(created).flush();
  if (limits) await saveOrderLimitsOfApiKey(em, created.id, limits);
  const details = { prefix: created.prefix, scopes, ...(limits && { limits: JSON.stringify(limits) }) };
  await recordAuditEvent(
    em,
    source,
    { action: 'api_key.created', actorId: userId, userId, clientId, subject: `api_key:${created.id}`, details },
    now,
  );
  const stored = await findOrderLimitsOfApiKeys(em, [created.id]);
  return { ...apiKeyFromEntity(created, stored.get(created.id), now), key };
}

/** Returns the new API key's scopes that are preapproved in the token's grant, plus `api_keys.manage` if that scope is preapproved. */
async function readPreapprovedScopes(em: EntityManager, { tokenRecordId }: Principal, scopes: readonly Scope[]): Promise<string[]> {
  const tokenKey = { model: 'AccessToken', id: tokenRecordId ?? '' };
  const token = await em.findOne(OauthRecord, tokenKey, { fields: ['grantId'], disableIdentityMap: true });
  if (token?.grantId == null) return [];
  const grant = await em.findOne(ConnectedAppEntity, { grantId: token.grantId }, { disableIdentityMap: true });
  const used = new Set<string>([...scopes, 'api_keys.manage']);
  return grant?.preapprovedScopes.filter((scope) => used.has(scope)) ?? [];
}

/** Rejects a token that has been revoked since it was verified, for example by a concurrent password reset. */
async function assertTokenNotRevoked(em: EntityManager, { tokenRecordId }: Principal): Promise<void> {
  if (tokenRecordId === undefined || (await em.count(OauthRecord, { model: 'AccessToken', id: tokenRecordId })) > 0) return;
  throw createProblem('revoked_token', { detail: 'Get a new access token and send the request again.' });
}

/** Rejects scopes that the access token does not have. */
function assertScopesGranted(principal: Principal, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !canUseScope(principal, scope));
  if (missing.length === 0) return;
  throw createProblem('insufficient_scope', {
    detail: translatable`The access token does not have these scopes: ${{ scopes: missing.join(', ') }}.`,
    headers: { 'WWW-Authenticate': `Bearer realm="api", error="insufficient_scope", scope="${missing.join(' ')}"` },
  });
}

function assertValidExpiry(expiry: Date, now: Date): void {
  if (expiry > now && expiry.getTime() <= now.getTime() + maxApiKeyLifetimeDays * dayMs) return;
  throw createInvalidRequestProblem({
    in: 'body',
    pointer: '#/expires_at',
    code: 'out_of_range',
    detail: translatable`Must be in the future, and at most ${{ days: maxApiKeyLifetimeDays }} days from now.`,
  });
}
