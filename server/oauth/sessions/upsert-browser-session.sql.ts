import { prepareStatement } from '../../database/queries/prepared-statement.ts';

// Written in SQL because it runs for every authorization request, and SQL is measurably faster (benchmark case `sign-in`).
export const upsertBrowserSession = prepareStatement(
  'record_browser_session_use',
  `insert into browser_sessions (uid, user_id, device, ip, started_at, last_used_at, linked_account_id) values ($1, $2, $3, $4, $5, $5, $6)
   on conflict (uid) do update set user_id = excluded.user_id, device = excluded.device, ip = excluded.ip, last_used_at = excluded.last_used_at,
     linked_account_id = case when $7::boolean then excluded.linked_account_id else browser_sessions.linked_account_id end`,
);
