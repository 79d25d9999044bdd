import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createEmptyPostgresqlUrl, createMigratedPostgresqlUrl, serverDatabaseKinds } from '../../support/services/database.ts';
import {
  createDataDirectory,
  killServerProcesses,
  obtainAdministrationToken,
  startServerProcess,
} from '../../support/server/server-process.ts';
import { runMandateServer } from '../../support/server/server-command.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterEach(killServerProcesses);

const task = z.object({ id: z.number(), status: z.string(), finished_at: z.string().nullable(), error: z.unknown() });
const backups = z.object({ data: z.array(z.object({ id: z.number(), file_name: z.string(), check_result: z.string().nullable() })) });

describe.each(serverDatabaseKinds)('a server on %s', { timeout: 300_000 }, (databaseKind) => {
  test('creates and checks a backup while it serves requests, and the backup can be restored', async () => {
    await using data = await createDataDirectory();
    const directory = join(data.path, 'backups');
    await mkdir(directory);
    const database = databaseKind === 'postgresql' ? { DATABASE_URL: await createMigratedPostgresqlUrl() } : {};
    const server = await startServerProcess({ MANDATE_DATA_DIR: data.path, MANDATE_BACKUP_DIR: directory, ...database });
    const headers = { authorization: `Bearer ${await obtainAdministrationToken(server.url, data.path)}` };
    const call = async (method: string, path: string): Promise<unknown> =>
      (await fetch(`${server.url}/api/v1${path}`, { method, headers })).json();
    const complete = async (path: string): Promise<unknown> => {
      const { id } = task.parse(await call('POST', path));
      return waitUntil(async () => {
        const now = task.parse(await call('GET', `/tasks/${id}`));
        return now.finished_at === null ? undefined : now;
      });
    };
    expect(await complete('/backups')).toMatchObject({ status: 'succeeded', error: null });
    const [backup] = backups.parse(await call('GET', '/backups')).data;
    expect(backup).toMatchObject({ check_result: 'intact' });
    expect(await complete(`/backups/${backup?.id}/checks`)).toMatchObject({ status: 'succeeded', error: null });
    expect(await server.stop()).toBe(0);
    if (databaseKind === 'pglite') return; // restoring into the embedded database takes much longer
    const restored = { MANDATE_DATA_DIR: data.path, DATABASE_URL: await createEmptyPostgresqlUrl() };
    const { code, stdout } = await runMandateServer(restored, ['restore', join(directory, backup?.file_name ?? '')]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('restored and compared')]);
  });
});
