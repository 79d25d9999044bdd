import { apiKeyDaysMax, apiKeysMax, type ApiKey, type ApiKeyCreate, type Scope } from '@mandate/contract';
import { recordAuditEvent, type Source } from '../audit/record-audit-event.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { may } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { invalidRequest, problem } from '../http/problem-details/problem.ts';
import { requireRecentSignIn } from '../http/request/recent-sign-in.ts';
import { OauthRecord } from '../oauth/storage/oauth-record.entity.ts';
import { lockUser } from '../users/lock-user.ts';
import { apiKeyColumns, toApiKey, type ApiKeyRow } from '../api-keys/api-key-rows.ts';
import { hashKey, newKey, prefixOf } from '../api-keys/key-secret.ts';

const days = 24 * 60 * 60 * 1000;
const usualDays = 90;

const countActive = statement<{ count: number }>(
  'count_api_keys',
  'select count(*) as count from api_keys where user_id = $1 and revoked_at is null and expires_at > $2',
);
const insertApiKey = statement<ApiKeyRow>(
  'insert_api_key',
  `insert into api_keys (user_id, name, prefix, secret_hash, scopes, created_by_client_id, created_at, expires_at, preapproved_scopes)
   values ($1, $2, $3, $4, $5::text[], $6, $7, $8, array(
     select s from oauth_records t join connections c on c.grant_id = t.grant_id, unnest(c.preapproved_scopes) s
     where t.model = 'AccessToken' and t.id = $9 and s = any($5::text[] || '{api_keys.manage}'::text[])))
   returning ${apiKeyColumns}`,
);

/** In a transaction. The key is in this answer and nowhere else: what is kept is its hash. */
export async function createApiKey(
  em: Em,
  principal: Principal,
  userId: number,
  { name, scopes: asked, expires_at: expiresAt }: ApiKeyCreate,
  source: Source,
  now: Date,
): Promise<ApiKey & { key: string }> {
  const scopes = [...new Set<Scope>(asked)];
  refuseMoreThanTheirs(principal, scopes);
  // A key is valid for months and bound to no sender, whatever the token is bound to: the user confirms it by a recent sign-in.
  requireRecentSignIn(principal, now);
  const end = expiresAt === undefined ? new Date(now.getTime() + usualDays * days) : new Date(expiresAt);
  refuseEnd(end, now);
  await lockUser(em, userId); // of two concurrent requests, the second counts the first one's key
  await refuseRevokedToken(em, principal);
  const [active] = await countActive(em, [userId, now]);
  if ((active?.count ?? 0) >= apiKeysMax) {
    throw problem('too_many_api_keys', { detail: `A user can have ${apiKeysMax} keys at a time. Revoke one that is not needed any more.` });
  }
  const key = newKey();
  const { clientId } = principal;
  const [row] = await insertApiKey(em, [
    userId,
    name,
    prefixOf(key),
    hashKey(key),
    scopes,
    clientId,
    now,
    end,
    principal.tokenRecordId ?? '',
  ]);
  if (!row) throw new Error('inserting an API key gave no row');
  const details = { prefix: row.prefix, scopes };
  await recordAuditEvent(
    em,
    source,
    { action: 'api_key.created', actorId: userId, userId, clientId, subject: `api_key:${row.id}`, details },
    now,
  );
  return { ...toApiKey(row, now), key };
}

/** The token was valid when the request began; a password reset that held the lock meanwhile has revoked it. */
async function refuseRevokedToken(em: Em, { tokenRecordId }: Principal): Promise<void> {
  if (tokenRecordId === undefined || (await em.count(OauthRecord, { model: 'AccessToken', id: tokenRecordId })) > 0) return;
  throw problem('revoked_token', { detail: 'Get a new access token and send the request again.' });
}

/** A key reaches no further than the token that makes it. */
function refuseMoreThanTheirs(principal: Principal, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !may(principal, scope));
  if (missing.length === 0) return;
  throw problem('insufficient_scope', {
    detail: `The access token cannot give what it does not have: ${missing.join(', ')}.`,
    headers: { 'WWW-Authenticate': `Bearer realm="api", error="insufficient_scope", scope="${missing.join(' ')}"` },
  });
}

function refuseEnd(end: Date, now: Date): void {
  if (end > now && end.getTime() <= now.getTime() + apiKeyDaysMax * days) return;
  throw invalidRequest({
    in: 'body',
    pointer: '#/expires_at',
    code: 'out_of_range',
    detail: `Must be after now and within ${apiKeyDaysMax} days.`,
  });
}
