import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';

/** Ends the grace period of all rotated refresh tokens. */
export async function expireRefreshGrace({ em }: Database): Promise<void> {
  await em.fork().execute(`update oauth_records set expires_at = now() - interval '1 second' where model = 'RefreshTokenResponse'`);
}
