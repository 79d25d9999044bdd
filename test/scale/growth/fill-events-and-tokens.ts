import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';

const rowsPerBatch = 250_000;

/** Inserts order events that consumers have already read, and access tokens that are valid for a day, both distributed evenly among the users. */
export async function fillEventsAndTokens(
  em: EntityManager,
  { users, events, tokens }: { readonly users: number; readonly events: number; readonly tokens: number },
): Promise<void> {
  await forEachBatch(events, (first, last) =>
    em.execute(
      `insert into events (seq, type, user_id, subject_type, subject_id, subject_version, data)
       select n, 'order.delivered', 1 + n % ?::int, 'order', n, 3, jsonb_build_object('id', n, 'status', 'delivered', 'total', 500, 'currency', 'GBP')
         from generate_series(?::int, ?::int) n`,
      [users, first, last],
    ),
  );
  await em.execute('update event_sequence set last_seq = ?', [events]);
  const [client] = await em.execute<{ client_id: string }[]>(`select client_id from applications where first_party limit 1`);
  await forEachBatch(tokens, (first, last) =>
    em.execute(
      `insert into oauth_records (model, id, payload, account_id, client_id, expires_at)
       select 'AccessToken', md5(n::text) || md5('token' || n), '{}', 1 + n % ?::int, ?, now() + interval '1 day'
         from generate_series(?::int, ?::int) n`,
      [users, client?.client_id ?? '', first, last],
    ),
  );
  for (const table of ['events', 'oauth_records']) await em.execute(`vacuum analyze ${table}`);
}

async function forEachBatch(count: number, insert: (first: number, last: number) => Promise<unknown>): Promise<void> {
  for (let first = 1; first <= count; first += rowsPerBatch) await insert(first, Math.min(first + rowsPerBatch - 1, count));
}
