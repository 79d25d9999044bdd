import type { Scope } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { Principal, TokenErrorCode, VerifyAccessToken } from '../http/request/principal.ts';
import { hashApiKey, isApiKey } from './key-secret.ts';
import type { ApiKeyUseBuffer } from './api-key-use-buffer.ts';

type ApiKeyStatusRow = {
  id: number;
  scopes: Scope[];
  expires_at: string;
  revoked_at: string | null;
  user_id: number;
  role: NonNullable<Principal['user']>['role'];
  user_status: string;
  application_status: string | null;
};

const findKey = prepareStatement<ApiKeyStatusRow>(
  'verify_api_key',
  `select k.id, k.scopes, k.expires_at, k.revoked_at, u.id as user_id, u.role, u.status as user_status, a.status as application_status
   from api_keys k join users u on u.id = k.user_id left join applications a on a.client_id = k.created_by_client_id where k.secret_hash = $1`,
);

/** Extends access token verification to API keys. A key is a bearer credential, so it is accepted only with the `Bearer` scheme. */
export const withApiKeyVerification =
  (em: EntityManager, lastUse: ApiKeyUseBuffer, verifyAccessToken: VerifyAccessToken): VerifyAccessToken =>
  async (presented) => {
    if (!isApiKey(presented.token)) return verifyAccessToken(presented);
    return presented.scheme === 'Bearer' ? verifyApiKey(em, lastUse, presented.token, new Date()) : 'invalid_token';
  };

async function verifyApiKey(em: EntityManager, lastUse: ApiKeyUseBuffer, key: string, now: Date): Promise<Principal | TokenErrorCode> {
  const [found] = await findKey(em, [hashApiKey(key)]);
  if (!found) return 'invalid_token';
  if (found.revoked_at !== null || found.user_status !== 'active') return 'revoked_token';
  if (found.application_status === 'disabled') return 'revoked_token'; // like a disabled application's tokens
  if (new Date(found.expires_at) <= now) return 'expired_token';
  lastUse.recordUse(found.id, now);
  return {
    user: { id: found.user_id, role: found.role },
    clientId: `api-key-${found.id}`,
    authScheme: 'Bearer',
    scopes: new Set(found.scopes),
    limits: { policy: 'api-key', perMinute: null, perMonth: null },
  };
}
