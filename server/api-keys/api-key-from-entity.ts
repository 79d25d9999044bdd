import type { InferEntity } from '@mikro-orm/core';
import type { ApiKey as ApiKeyBody, ApiKeyLimits } from '@mandate/contract';
import type { ApiKey } from './api-key.entity.ts';

export function computeApiKeyStatus(isRevoked: boolean, expiresAt: Date, now: Date): ApiKeyBody['status'] {
  if (isRevoked) return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}

/** Returns an API key entity's API representation. */
export const apiKeyFromEntity = (key: InferEntity<typeof ApiKey>, limits: ApiKeyLimits | undefined, now: Date): ApiKeyBody => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  scopes: key.scopes,
  order_limits: limits ?? null,
  created_by_client_id: key.createdByClientId ?? null,
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  status: computeApiKeyStatus(key.revokedAt != null, key.expiresAt, now),
});
