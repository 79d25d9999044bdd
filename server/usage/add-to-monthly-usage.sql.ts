import { prepareStatement } from '../database/queries/prepared-statement.ts';

// Written in SQL, because the upsert adds to the stored count.
// Rows are written in a fixed order, so that concurrent processes cannot deadlock.
export const addToMonthlyUsage = prepareStatement<{ client_id: string; month: string; requests: number }>(
  'add_usage',
  `insert into usage_months (client_id, month, requests)
   select client_id, month, requests from unnest($1::text[], $2::text[], $3::bigint[]) as used (client_id, month, requests)
   order by client_id, month
   on conflict (client_id, month) do update set requests = usage_months.requests + excluded.requests
   returning client_id, month, requests`,
);
