import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { fillDiskExcept, createSmallDataDirectory } from '../../faults/scenarios/disk-full-embedded.ts';
import { reasonMountFails } from '../../faults/scenarios/disk-full.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { scrapeMetrics } from '../../support/metrics.ts';
import { copyMigratedDatabase } from '../../support/server/migrated-data-directory.ts';
import {
  obtainAdministrationToken,
  killServerProcesses,
  readFirstRunFile,
  runServerUntilExit,
  startServerProcess,
} from '../../support/server/server-process.ts';

afterEach(killServerProcesses);

const reason = reasonMountFails();
if (reason !== undefined) process.stderr.write(`Tests with a small disk are skipped: ${reason}\n`);

const tokenRequest = async (url: string, dataDirectory: string): Promise<Response> => {
  const { client_id: id, client_secret: secret } = (await readFirstRunFile(dataDirectory)).applications.administration;
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  return fetch(`${url}/oauth/token`, { method: 'POST', headers: { authorization }, body });
};

describe.skipIf(reason !== undefined)('an embedded database on a small disk', { timeout: 120_000 }, () => {
  test('is not created without enough free space', async () => {
    await using data = await createSmallDataDirectory();
    await fillDiskExcept(join(data.path, 'ballast'), 50);
    const { code, output } = await runServerUntilExit({ MANDATE_DATA_DIR: data.path });
    expect(code).toBe(1);
    expect(output).toMatch(
      /^Mandate cannot start\. \S+: a new embedded database requires 96 MB of free disk space, and (49|50) MB are free\. Free disk space, or move MANDATE_DATA_DIR to a larger disk\.\n$/,
    );
  });

  test('is not opened without the reserve, and after it has been opened rejects only writes', async () => {
    await using data = await createSmallDataDirectory();
    await copyMigratedDatabase(data.path);
    const [ballast, metricsPort] = [join(data.path, 'ballast'), await findFreePort()];
    const env = { MANDATE_DATA_DIR: data.path, MANDATE_METRICS_PORT: String(metricsPort) };
    const server = await startServerProcess(env);
    const token = await obtainAdministrationToken(server.url, data.path);
    const get = async (path: string): Promise<number> =>
      (await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
    const create = async (): Promise<Response> =>
      fetch(`${server.url}/api/v1/products`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ sku: 'pigeon', name: 'Pigeon', category: 'birds', price: 100, currency: 'GBP' }),
      });

    await fillDiskExcept(ballast, 20);
    const refused = await create();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
    expect(await refused.json()).toMatchObject({ code: 'insufficient_storage' });
    const noToken = await tokenRequest(server.url, data.path);
    expect([noToken.status, noToken.headers.get('retry-after')]).toEqual([503, '10']);
    expect(await noToken.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'insufficient_storage: the server does not have enough disk space to save changes; send the request again later',
    });
    expect([await get('/api/v1/products'), await get('/api/v1/orders'), await get('/healthz')]).toEqual([200, 200, 200]);
    const metrics = await scrapeMetrics(metricsPort);
    expect(metrics.value('mandate_database_writes_refused')).toBe(1);
    expect(metrics.value('mandate_database_disk_free_bytes')).toBeLessThanOrEqual(20 * 1024 * 1024);

    await rm(ballast);
    await expect.poll(async () => (await tokenRequest(server.url, data.path)).status).toBe(200);
    expect((await scrapeMetrics(metricsPort)).value('mandate_database_writes_refused')).toBe(0);
    // The server logs one error per disk space shortage, and none for the requests rejected during the shortage.
    expect(server.output().match(/ error: .*/g)).toEqual([expect.stringContaining('disk space is low: writes are rejected')]);
    await fillDiskExcept(ballast, 20);
    expect(await server.stop()).toBe(0);
    const { code, output } = await runServerUntilExit(env);
    expect(code).toBe(1);
    expect(output).toMatch(
      /^Mandate cannot start\. \S+: opening the embedded database requires 32 MB of free disk space, and (19|20) MB are free\. /,
    );
  });
});
