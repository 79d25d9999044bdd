import { type DeleteExpiredRows, prepareExpiredRowDeletion } from '../../database/queries/expired-rows.ts';

// Rows younger than a day are skipped, because a browser's row is written before its session is stored.
const deleteConnections = prepareExpiredRowDeletion({
  table: 'connections',
  key: 'id',
  isExpired: `coalesce(last_used_at, created_at) < $1::timestamptz - interval '1 day'
    and not exists (select 1 from oauth_records g where g.model = 'Grant' and g.id = connections.grant_id)`,
});
const deleteBrowserSessions = prepareExpiredRowDeletion({
  table: 'browser_sessions',
  key: 'uid',
  isExpired: `last_used_at < $1::timestamptz - interval '1 day'
    and not exists (select 1 from oauth_records s where s.model = 'Session' and s.uid = browser_sessions.uid)`,
});

/** Deletes one batch of connected apps without a grant and one batch of browser sessions without a session record. */
export const deleteOrphanedRows: DeleteExpiredRows = async (em, now) =>
  (await deleteConnections(em, now)) + (await deleteBrowserSessions(em, now));
