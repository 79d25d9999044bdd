import { Client } from 'pg';
import { z } from 'zod';

export function databaseUrl(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

const rows = z.array(z.object({ datname: z.string() }).partial().passthrough());

/** One statement on a connection of its own: databases are created and dropped from beside them. */
export async function administer(server: string, sql: string): Promise<z.infer<typeof rows>> {
  const client = new Client(server);
  await client.connect();
  try {
    return rows.parse((await client.query(sql)).rows);
  } finally {
    await client.end();
  }
}
