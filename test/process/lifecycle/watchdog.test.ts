import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../../server/config/read-config.ts';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { killServerProcesses, startServerProcess, createDataDirectory, type ServerProcess } from '../../support/server/server-process.ts';

afterEach(killServerProcesses);

/** Module that blocks the event loop permanently on SIGUSR2. */
const blockingModule = 'data:text/javascript,process.on("SIGUSR2", () => { for (;;); })';

async function start(dataDirectory: string, env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const database = databaseKind === 'postgresql' ? { DATABASE_URL: await createMigratedPostgresqlUrl() } : {};
  return startServerProcess({ MANDATE_DATA_DIR: dataDirectory, ...database, ...env }, ['--import', blockingModule, 'server/main.ts']);
}

const isAlive = async ({ url }: ServerProcess): Promise<boolean> =>
  fetch(`${url}/healthz`, { signal: AbortSignal.timeout(10_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

describe('the watchdog', { timeout: 120_000 }, () => {
  test.each([
    ['development', {}, /^\d\d:\d\d:\d\d fatal: the event loop is blocked: the process is terminated.* blocked_seconds=3$/m],
    [
      'production',
      { NODE_ENV: 'production', MANDATE_ISSUER: 'https://shop.example', MANDATE_SECRET: 'x'.repeat(43) },
      /^\{"level":60,.*"blocked_seconds":3,"msg":"the event loop/m,
    ],
  ])('reports and terminates a process whose event loop is blocked (%s)', async (_, env, report) => {
    await using data = await createDataDirectory();
    const server = await start(data.path, { ...env, MANDATE_WATCHDOG: '3' });
    const began = performance.now();
    process.kill(server.pid, 'SIGUSR2');
    const [code, signal] = await server.exited;
    expect([code, signal]).toEqual([null, 'SIGKILL']);
    expect(performance.now() - began).toBeGreaterThan(2_000);
    expect(server.output()).toMatch(report);
  });

  test('does not terminate a process that was suspended, and does not delay its exit', async () => {
    await using data = await createDataDirectory();
    const server = await start(data.path, { MANDATE_WATCHDOG: '3' });
    process.kill(server.pid, 'SIGSTOP');
    await sleep(6_000);
    process.kill(server.pid, 'SIGCONT');
    await sleep(1_500);
    expect(await isAlive(server)).toBe(true);
    expect(await server.stop()).toBe(0);
    expect(server.output()).not.toContain('event loop is blocked');
  });

  test('can be turned off', async () => {
    await using data = await createDataDirectory();
    const server = await start(data.path, { MANDATE_WATCHDOG: '0' });
    process.kill(server.pid, 'SIGUSR2');
    expect(await isAlive(server)).toBe(false);
    process.kill(server.pid, 0); // the process still exists
    await server.kill();
  });

  test('waits for 30 seconds by default', () => {
    expect(readConfig({}).watchdogSeconds).toBe(30);
  });
});
