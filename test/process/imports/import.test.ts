import { join } from 'node:path';
import { z } from 'zod';
import { afterEach, describe, expect, test } from 'vitest';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { createMigratedPostgresqlUrl, serverDatabaseKinds } from '../../support/services/database.ts';
import {
  obtainAdministrationToken,
  killServerProcesses,
  startServerProcess,
  createDataDirectory,
} from '../../support/server/server-process.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterEach(killServerProcesses);

const products = 8_000;
const file = `sku,name,category,price,currency\n${Array.from({ length: products }, (_, n) => `M-${n},Name ${n},many,${n},EUR`).join('\n')}\n`;

const task = z.object({
  id: z.number(),
  status: z.string(),
  progress: z.object({ processed: z.number() }),
  result: z
    .object({
      imported: z.object({ created: z.number(), updated: z.number(), unchanged: z.number(), refused: z.number(), differing: z.number() }),
    })
    .nullable(),
});
type Task = z.output<typeof task>;

const authorizationHeaders = async (url: string, dataDirectory: string): Promise<Record<string, string>> => ({
  authorization: `Bearer ${await obtainAdministrationToken(url, dataDirectory)}`,
});

async function until(read: () => Promise<Task>, reached: (task: Task) => boolean): Promise<Task> {
  return waitUntil(async () => {
    const now = await read();
    return reached(now) ? now : undefined;
  });
}

/** Maximum time from killing the server until the restarted server resumes the import. */
const resumedWithinMs = 15_000;

describe.each(serverDatabaseKinds)('a server that is killed during an import, on %s', { timeout: 120_000 }, (databaseKind) => {
  test('resumes the import after its restart and imports each line once', async () => {
    await using data = await createDataDirectory();
    const databaseUrl = databaseKind === 'pglite' ? join(data.path, 'database') : await createMigratedPostgresqlUrl();
    const environment = { MANDATE_DATA_DIR: data.path, ...(databaseKind === 'postgresql' && { DATABASE_URL: databaseUrl }) };
    const first = await startServerProcess(environment);
    const headers = await authorizationHeaders(first.url, data.path);
    const started = await fetch(`${first.url}/api/v1/product-imports`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'text/csv' },
      body: file,
    });
    const { id } = task.parse(await started.json());
    const read = async (url: string, as: Record<string, string>): Promise<Task> =>
      task.parse(await (await fetch(`${url}/api/v1/tasks/${id}`, { headers: as })).json());
    const caught = await until(
      () => read(first.url, headers),
      ({ progress }) => progress.processed > 0,
    );
    const killedAt = performance.now();
    await first.kill();
    expect(caught).toMatchObject({ status: 'running', result: null });

    const second = await startServerProcess(environment);
    const headersAfterRestart = await authorizationHeaders(second.url, data.path);
    await until(
      () => read(second.url, headersAfterRestart),
      ({ progress }) => progress.processed > caught.progress.processed,
    );
    expect(performance.now() - killedAt).toBeLessThan(resumedWithinMs);
    const done = await until(
      () => read(second.url, headersAfterRestart),
      ({ status }) => status !== 'running',
    );
    expect(done).toEqual({
      id,
      status: 'succeeded',
      progress: { processed: products },
      result: { imported: { created: products, updated: 0, unchanged: 0, refused: 0, differing: 0 } },
    });
    expect(await second.stop()).toBe(0);

    const db = await openDatabaseWithoutMigrating(databaseUrl);
    const counted = await db.em.fork().execute(
      `select (select count(*)::int from products where category = 'many') as products,
              (select count(*)::int from events where type = 'product.created' and data ->> 'category' = 'many') as events`,
    );
    await db.close();
    expect(counted).toEqual([{ products, events: products }]);
  });
});
