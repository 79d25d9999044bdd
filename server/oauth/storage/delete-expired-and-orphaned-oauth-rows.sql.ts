import {
  type DeleteExpiredRows,
  type ExpiredRows,
  prepareBatchDeletionOfExpiredRows,
} from '../../database/queries/prepare-batch-deletion-of-expired-rows.ts';

/** Identifies the expired rows in each of the authorization server's tables. */
const expiredRows = {
  // Consumed tokens are stored until they expire, and consumed codes are stored until their grants expire, so that reuse is detected.
  oauth_records: { key: 'model, id', isExpired: 'expires_at < $1', orderBy: 'expires_at' },
  attempts: { key: 'key', isExpired: 'expire < (extract(epoch from $1::timestamptz) * 1000)::bigint', orderBy: 'expire' },
  mailed_links: { key: 'token_hash', isExpired: 'expires_at < $1', orderBy: 'expires_at' },
  challenges: { key: 'challenge', isExpired: 'expires_at < $1', orderBy: 'expires_at' },
  // Recent connected apps and sessions are skipped, because they are written before the grant or the session record to which they belong.
  connections: {
    key: 'id',
    isExpired: `coalesce(last_used_at, created_at) < $1::timestamptz - interval '1 day'
      and not exists (select 1 from oauth_records g where g.model = 'Grant' and g.id = connections.grant_id)`,
  },
  order_limits: {
    key: 'grant_id',
    isExpired: `created_at < $1::timestamptz - interval '1 day'
      and not exists (select 1 from connections c where c.grant_id = order_limits.grant_id)
      and not exists (select 1 from api_keys k where k.id = substring(order_limits.grant_id from '^api-key-(\\d+)$')::bigint)`,
  },
  // The longest budget period is one month.
  budgeted_orders: { key: 'grant_id, order_id', isExpired: `counted_at < $1::timestamptz - interval '40 days'`, orderBy: 'counted_at' },
  browser_sessions: {
    key: 'uid',
    isExpired: `last_used_at < $1::timestamptz - interval '1 day'
      and not exists (select 1 from oauth_records s where s.model = 'Session' and s.uid = browser_sessions.uid)`,
  },
} satisfies Record<string, Omit<ExpiredRows, 'table'>>;

// Written in SQL because MikroORM cannot delete a batch of rows and skip the locked ones in one statement.
const deletions = new Map(
  Object.entries(expiredRows).map(([table, rows]) => [table, prepareBatchDeletionOfExpiredRows({ table, ...rows })] as const),
);

const deleteFrom =
  (table: keyof typeof expiredRows): DeleteExpiredRows =>
  async (em, now) =>
    (await deletions.get(table)?.(em, now)) ?? 0;

export const deleteExpiredOauthRecordsBatch = deleteFrom('oauth_records');
export const deleteExpiredAttemptCountersBatch = deleteFrom('attempts');
export const deleteExpiredEmailedLinksBatch = deleteFrom('mailed_links');
export const deleteExpiredSingleUseIdentifiersBatch = deleteFrom('challenges');

/**
 * Deletes one batch from each of four tables: connected apps without a grant, limits without a connected app or API key, past budgets, and
 * browser sessions without a session record.
 */
export const deleteOrphanedGrantRowsAndSessionsBatch: DeleteExpiredRows = async (em, now) =>
  (await deleteFrom('connections')(em, now)) +
  (await deleteFrom('order_limits')(em, now)) +
  (await deleteFrom('budgeted_orders')(em, now)) +
  (await deleteFrom('browser_sessions')(em, now));
