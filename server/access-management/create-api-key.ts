import { maxApiKeyDays, maxApiKeysPerUser, type ApiKey, type ApiKeyCreate, type Scope } from '@mandate/contract';
import { recordAuditEvent, type RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { canUseScope } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import { requireRecentSignIn } from '../http/request/recent-sign-in.ts';
import { OauthRecord } from '../oauth/storage/oauth-record.entity.ts';
import { lockUser } from '../users/lock-user.ts';
import { apiKeyColumnsSql, apiKeyFromRow, type ApiKeyRow } from '../api-keys/api-key-rows.ts';
import { hashApiKey, generateApiKey, apiKeyPrefix } from '../api-keys/key-secret.ts';

const dayMs = 24 * 60 * 60 * 1000;
const defaultDays = 90;

const countActive = prepareStatement<{ count: number }>(
  'count_api_keys',
  'select count(*) as count from api_keys where user_id = $1 and revoked_at is null and expires_at > $2',
);
const insertApiKey = prepareStatement<ApiKeyRow>(
  'insert_api_key',
  `insert into api_keys (user_id, name, prefix, secret_hash, scopes, created_by_client_id, created_at, expires_at, preapproved_scopes)
   values ($1, $2, $3, $4, $5::text[], $6, $7, $8, array(
     select s from oauth_records t join connections c on c.grant_id = t.grant_id, unnest(c.preapproved_scopes) s
     where t.model = 'AccessToken' and t.id = $9 and s = any($5::text[] || '{api_keys.manage}'::text[])))
   returning ${apiKeyColumnsSql}`,
);

/** Creates an API key; requires a transaction. Only this response contains the key; the database stores its hash. */
export async function createApiKey(
  em: EntityManager,
  principal: Principal,
  userId: number,
  { name, scopes: requestedScopes, expires_at: expiresAt }: ApiKeyCreate,
  source: RequestSource,
  now: Date,
): Promise<ApiKey & { key: string }> {
  const scopes = [...new Set<Scope>(requestedScopes)];
  assertScopesGranted(principal, scopes);
  // Require a recent sign-in: a key is valid for months and, unlike the token, never sender-constrained.
  requireRecentSignIn(principal, now);
  const expiry = expiresAt === undefined ? new Date(now.getTime() + defaultDays * dayMs) : new Date(expiresAt);
  assertValidExpiry(expiry, now);
  await lockUser(em, userId); // the second of two concurrent requests must count the key of the first
  await assertTokenNotRevoked(em, principal);
  const [active] = await countActive(em, [userId, now]);
  if ((active?.count ?? 0) >= maxApiKeysPerUser) {
    throw createProblem('too_many_api_keys', {
      detail: `A user can have ${maxApiKeysPerUser} keys at a time. Revoke one that is no longer needed.`,
    });
  }
  const key = generateApiKey();
  const { clientId } = principal;
  const [row] = await insertApiKey(em, [
    userId,
    name,
    apiKeyPrefix(key),
    hashApiKey(key),
    scopes,
    clientId,
    now,
    expiry,
    principal.tokenRecordId ?? '',
  ]);
  if (!row) throw new Error('inserting an API key returned no row');
  const details = { prefix: row.prefix, scopes };
  await recordAuditEvent(
    em,
    source,
    { action: 'api_key.created', actorId: userId, userId, clientId, subject: `api_key:${row.id}`, details },
    now,
  );
  return { ...apiKeyFromRow(row, now), key };
}

/** Rejects a token that was revoked after its verification, for example by a password reset that held the lock in the meantime. */
async function assertTokenNotRevoked(em: EntityManager, { tokenRecordId }: Principal): Promise<void> {
  if (tokenRecordId === undefined || (await em.count(OauthRecord, { model: 'AccessToken', id: tokenRecordId })) > 0) return;
  throw createProblem('revoked_token', { detail: 'Get a new access token and send the request again.' });
}

/** Rejects scopes that the access token does not have. */
function assertScopesGranted(principal: Principal, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !canUseScope(principal, scope));
  if (missing.length === 0) return;
  throw createProblem('insufficient_scope', {
    detail: `The access token does not have these scopes: ${missing.join(', ')}.`,
    headers: { 'WWW-Authenticate': `Bearer realm="api", error="insufficient_scope", scope="${missing.join(' ')}"` },
  });
}

function assertValidExpiry(expiry: Date, now: Date): void {
  if (expiry > now && expiry.getTime() <= now.getTime() + maxApiKeyDays * dayMs) return;
  throw createInvalidRequestProblem({
    in: 'body',
    pointer: '#/expires_at',
    code: 'out_of_range',
    detail: `Must be after now and within ${maxApiKeyDays} days.`,
  });
}
