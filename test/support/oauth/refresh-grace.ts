import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';

/** Ends the grace period of every refresh token that has been rotated, as if the time had passed. */
export async function endRefreshGrace({ em }: Database): Promise<void> {
  await em.fork().execute(`update oauth_records set expires_at = now() - interval '1 second' where model = 'RefreshTokenResponse'`);
}
