import { prepareStatement } from '../../database/queries/prepared-statement.ts';

// Written in SQL because the benchmark case `sign-in` runs it for every authorization request (see docs/performance.md).
export const upsertBrowserSession = prepareStatement(
  'record_browser_session_use',
  `insert into browser_sessions (uid, user_id, device, ip, started_at, last_used_at) values ($1, $2, $3, $4, $5, $5)
   on conflict (uid) do update set user_id = excluded.user_id, device = excluded.device, ip = excluded.ip, last_used_at = excluded.last_used_at`,
);
