import type { ApiKey } from '@mandate/contract';
import { timestampToRfc3339, timestampToRfc3339OrNull } from '../database/time/timestamp-to-rfc3339.ts';

export type ApiKeyRow = Omit<ApiKey, 'status'> & { revoked_at: string | null };

export const apiKeyColumnsSql = 'id, name, prefix, scopes, created_by_client_id, created_at, expires_at, last_used_at, revoked_at';

export function resolveApiKeyStatus(isRevoked: boolean, expiresAt: Date, now: Date): ApiKey['status'] {
  if (isRevoked) return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}

export function apiKeyFromRow({ revoked_at: revokedAt, ...row }: ApiKeyRow, now: Date): ApiKey {
  return {
    ...row,
    status: resolveApiKeyStatus(revokedAt !== null, new Date(row.expires_at), now),
    created_at: timestampToRfc3339(row.created_at),
    expires_at: timestampToRfc3339(row.expires_at),
    last_used_at: timestampToRfc3339OrNull(row.last_used_at),
  };
}
