import { afterEach, expect, test } from 'vitest';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';
import { openTcpProxy } from '../../support/network/tcp-proxy.ts';

afterEach(killServerProcesses);

test.skipIf(databaseKind === 'pglite')(
  'a process whose open database connections do not respond is healthy but not ready, and becomes ready again when the database responds',
  { timeout: 60_000 },
  async () => {
    await using data = await createDataDirectory();
    const database = new URL(await createMigratedPostgresqlUrl());
    await using proxy = await openTcpProxy(Number(database.port));
    database.port = String(proxy.port);
    database.hostname = '127.0.0.1';
    const { url } = await startServerProcess({ MANDATE_DATA_DIR: data.path, DATABASE_URL: database.href });
    // this limit is shorter than every statement and connection timeout
    const fetchStatus = async (path: string): Promise<string> => {
      const response = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(8_000) });
      return `${response.status} ${(await response.text()).trim()}`;
    };
    expect(await fetchStatus('/readyz')).toBe('200 ok');
    proxy.dropTraffic();
    expect(await fetchStatus('/readyz')).toBe('503 the database does not respond');
    expect(await fetchStatus('/healthz')).toBe('200 ok');
    proxy.forwardNewConnections();
    proxy.closeDeadConnections();
    await expect.poll(() => fetchStatus('/readyz'), { timeout: 30_000 }).toBe('200 ok');
  },
);
