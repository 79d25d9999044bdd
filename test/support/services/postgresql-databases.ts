import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';

export function databaseUrlOnServer(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

const rows = z.array(z.object({ datname: z.string() }).partial().passthrough());

/** Timeouts for connections to servers that no longer respond. */
const limits = { connectionTimeoutMillis: 20_000, query_timeout: 60_000 };

/** Runs one statement on a separate connection, for example to create or drop a database. */
export async function runAdminSql(server: string, sql: string): Promise<z.infer<typeof rows>> {
  const client = new Client({ connectionString: server, ...limits });
  client.on('error', () => undefined); // the pending promise reports the error
  await client.connect();
  try {
    return rows.parse((await client.query(sql)).rows);
  } finally {
    await Promise.race([client.end(), sleep(5_000, undefined, { ref: false })]);
  }
}
