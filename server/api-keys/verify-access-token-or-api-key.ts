import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { Principal, TokenErrorCode, VerifyAccessToken } from '../http/request/principal-and-token-types.ts';
import { clientIdFromApiKeyId } from './api-key-order-limits.ts';
import { findApiKeyByHash } from './find-api-key.sql.ts';
import { hashApiKey, hasApiKeyFormat } from './api-key-secret.ts';
import type { ApiKeyLastUseBuffer } from './api-key-last-use-buffer.ts';

/** Extends access token verification to API keys. A key is a bearer credential, so it is accepted only with the `Bearer` scheme. */
export const extendTokenVerifierToApiKeys =
  (em: EntityManager, lastUse: ApiKeyLastUseBuffer, verifyAccessToken: VerifyAccessToken): VerifyAccessToken =>
  async (presented) => {
    if (!hasApiKeyFormat(presented.token)) return verifyAccessToken(presented);
    return presented.scheme === 'Bearer' ? verifyApiKey(em, lastUse, presented.token, new Date()) : 'invalid_token';
  };

async function verifyApiKey(em: EntityManager, lastUse: ApiKeyLastUseBuffer, key: string, now: Date): Promise<Principal | TokenErrorCode> {
  const [found] = await findApiKeyByHash(em, [hashApiKey(key)]);
  if (!found) return 'invalid_token';
  if (found.revoked_at !== null || found.user_status !== 'active') return 'revoked_token';
  if (found.application_status === 'disabled') return 'revoked_token'; // same error code as for access tokens of a disabled application
  if (new Date(found.expires_at) <= now) return 'expired_token';
  lastUse.recordUse(found.id, now);
  const clientId = clientIdFromApiKeyId(found.id);
  const { order_actions: actions, orders_valid_until: validUntil, own_orders_only: ownOrdersOnly } = found;
  return {
    user: { id: found.user_id, role: found.role },
    clientId,
    ...(actions !== null && {
      grantId: clientId,
      orderAuthorization: {
        actions,
        validUntil: validUntil === null ? null : new Date(validUntil),
        ownOrdersOnly: ownOrdersOnly === true,
      },
    }),
    authScheme: 'Bearer',
    scopes: new Set(found.scopes),
    limits: { policy: 'api-key', perMinute: null, perMonth: null },
  };
}
