import type { ApiKey } from '@mandate/contract';
import { instant, instantOrNull } from '../database/time/timestamp-format.ts';

export type ApiKeyRow = Omit<ApiKey, 'status'> & { revoked_at: string | null };

export const apiKeyColumns = 'id, name, prefix, scopes, created_by_client_id, created_at, expires_at, last_used_at, revoked_at';

export function apiKeyStatus(isRevoked: boolean, expiresAt: Date, now: Date): ApiKey['status'] {
  if (isRevoked) return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}

export function toApiKey({ revoked_at: revokedAt, ...row }: ApiKeyRow, now: Date): ApiKey {
  return {
    ...row,
    status: apiKeyStatus(revokedAt !== null, new Date(row.expires_at), now),
    created_at: instant(row.created_at),
    expires_at: instant(row.expires_at),
    last_used_at: instantOrNull(row.last_used_at),
  };
}
