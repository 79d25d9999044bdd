import { afterEach, expect, test } from 'vitest';
import { createDatabaseEnvironment, databaseKind } from '../../support/services/database.ts';
import { startPostgresql, findPostgresql } from '../../support/services/postgresql-server.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';

afterEach(killServerProcesses);

const fetchStatus = async (url: string, path: string): Promise<string> => {
  const response = await fetch(`${url}${path}`);
  return `${response.status} ${(await response.text()).trim()}`;
};

test('a running process is healthy and ready, and rate limits do not apply to these checks', { timeout: 60_000 }, async () => {
  await using data = await createDataDirectory();
  const database = await createDatabaseEnvironment();
  const { url } = await startServerProcess({ MANDATE_DATA_DIR: data.path, MANDATE_RATE_LIMIT_IP: '1', ...database });
  for (let i = 0; i < 5; i += 1)
    expect([await fetchStatus(url, '/healthz'), await fetchStatus(url, '/readyz')]).toEqual(['200 ok', '200 ok']);
  const response = await fetch(`${url}/readyz`);
  expect(response.headers.get('cache-control')).toBe('no-store');
});

test('a stopping process is not ready, but still serves requests', { timeout: 60_000 }, async () => {
  await using data = await createDataDirectory();
  const database = await createDatabaseEnvironment();
  const { url, stop } = await startServerProcess({ MANDATE_DATA_DIR: data.path, MANDATE_STOP_DELAY: '8', ...database });
  const stopped = stop();
  await expect.poll(() => fetchStatus(url, '/readyz'), { timeout: 30_000 }).toBe('503 it was asked to stop');
  expect(await fetchStatus(url, '/healthz')).toBe('200 ok');
  const response = await fetch(`${url}/api/v1/products`);
  expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
  await response.body?.cancel();
  expect(await stopped).toBe(0);
});

test('behind a proxy, a server keeps idle connections open for longer than proxies do', { timeout: 60_000 }, async () => {
  await using data = await createDataDirectory();
  const { url } = await startServerProcess({
    MANDATE_DATA_DIR: data.path,
    MANDATE_TRUST_PROXY: '1',
    ...(await createDatabaseEnvironment()),
  });
  const response = await fetch(`${url}/healthz`);
  expect(response.headers.get('keep-alive')).toBe('timeout=75');
  await response.body?.cancel();
});

test.skipIf(databaseKind === 'pglite')('without its database, a process is healthy but not ready', { timeout: 60_000 }, async () => {
  await using data = await createDataDirectory();
  const postgresql = await startPostgresql(await findPostgresql());
  const { url } = await startServerProcess({ MANDATE_DATA_DIR: data.path, DATABASE_URL: postgresql.url });
  expect(await fetchStatus(url, '/readyz')).toBe('200 ok');
  await postgresql.stop();
  expect(await fetchStatus(url, '/readyz')).toBe('503 the database does not respond');
  expect(await fetchStatus(url, '/healthz')).toBe('200 ok');
});
