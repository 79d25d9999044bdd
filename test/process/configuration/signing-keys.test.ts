import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createMigratedPostgresqlUrl, databaseKind } from '../../support/services/database.ts';
import { runMandateServer } from '../../support/server/server-command.ts';
import { createMigratedDataDirectory } from '../../support/server/migrated-data-directory.ts';
import {
  obtainAdministrationToken,
  killServerProcesses,
  startServerProcess,
  createDataDirectory,
} from '../../support/server/server-process.ts';

afterEach(killServerProcesses);

/** Runs `npm run keys:rotate`. */
async function rotateKeys(env: Record<string, string>, ...argv: string[]): Promise<{ code: unknown; output: string }> {
  const { code, stdout, stderr } = await runMandateServer(env, ['keys', 'rotate', ...argv]);
  return { code, output: stdout + stderr };
}

async function publishedKeys(url: string): Promise<string[]> {
  const { keys } = z.object({ keys: z.array(z.object({ kid: z.string() })) }).parse(await (await fetch(`${url}/oauth/jwks`)).json());
  return keys.map(({ kid }) => kid);
}

describe('npm run keys:rotate', { timeout: 180_000 }, () => {
  test('reports that the running server must rotate the keys of an embedded database, and the server does so', async () => {
    await using data = await createMigratedDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path };
    const server = await startServerProcess(env);
    const before = await publishedKeys(server.url);

    const refused = await rotateKeys(env);
    expect(refused.code).toBe(1);
    expect(refused.output).toContain(
      `is in use by another process. Ask the running server, as an administrator: mandate signing-keys rotate`,
    );
    expect(refused.output).not.toMatch(/\bat .*\.ts:\d+/);

    const authorization = `Bearer ${await obtainAdministrationToken(server.url, data.path)}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const rotated = await fetch(`${server.url}/api/v1/signing-key-rotations`, { method: 'POST', headers, body: '{}' });
    expect([rotated.status, await rotated.json()]).toEqual([201, expect.objectContaining({ made: 4 })]);
    const after = await publishedKeys(server.url);
    expect(after).toHaveLength(8);
    expect(after).toEqual(expect.arrayContaining(before));

    await server.stop();
    const again = await rotateKeys(env);
    expect(again).toEqual({ code: 0, output: expect.stringContaining('have already been published') });
  });

  test.skipIf(databaseKind === 'pglite')('rotates the keys of running servers on PostgreSQL without a restart', async () => {
    await using data = await createDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path, DATABASE_URL: await createMigratedPostgresqlUrl() };
    const server = await startServerProcess(env);
    const before = await publishedKeys(server.url);
    expect(await rotateKeys(env)).toEqual({ code: 0, output: expect.stringContaining('4 new signing keys have been published.') });
    await expect.poll(() => publishedKeys(server.url), { timeout: 30_000, interval: 500 }).toHaveLength(4);
    expect(await publishedKeys(server.url)).toEqual(expect.arrayContaining(before));
    await server.stop();
  });
});
