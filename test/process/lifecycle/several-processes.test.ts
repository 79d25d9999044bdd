import { readdir, readFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { findFreePort } from '../../support/network/free-port.ts';
import { scrapeMetrics } from '../../support/metrics.ts';
import { createMigratedDataDirectory } from '../../support/server/migrated-data-directory.ts';
import {
  createDataDirectory,
  killServerProcesses,
  runServerUntilExit,
  startServerProcess,
  type ServerProcess,
} from '../../support/server/server-process.ts';
import { createMigratedPostgresqlUrl, databaseKind } from '../../support/services/database.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterEach(killServerProcesses);

/** Returns the server processes that a supervisor has started. */
async function childProcesses(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

const exists = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => !/\) Z /.test(stat),
    () => false,
  );

type Server = ServerProcess & { readonly dataDirectory: string; readonly metricsPort: number };

async function startServer(dataDirectory: string, environment: Readonly<Record<string, string>> = {}): Promise<Server> {
  const metricsPort = await findFreePort();
  const server = await startServerProcess({
    DATABASE_URL: await createMigratedPostgresqlUrl(),
    MANDATE_DATA_DIR: dataDirectory,
    MANDATE_PROCESSES: '2',
    MANDATE_METRICS_PORT: String(metricsPort),
    ...environment,
  });
  await waitUntil(() => server.output().includes('2 server processes are running.'));
  return { ...server, dataDirectory, metricsPort };
}

/** Sends a request over a new connection, so that the supervisor chooses a process. */
const request = (url: string, path = '/api/v1/products', headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${url}${path}`, { headers: { connection: 'close', ...headers } });

const requests = 'mandate_http_requests_total';

describe.skipIf(databaseKind === 'pglite')('MANDATE_PROCESSES=2', { timeout: 120_000 }, () => {
  test('starts two processes, which print one welcome message, and stops both on SIGTERM', async () => {
    await using data = await createDataDirectory();
    const server = await startServer(data.path);
    const children = await childProcesses(server.pid);
    expect(children).toHaveLength(2);
    expect(server.output().match(/Mandate is running\./g)).toHaveLength(1);
    expect((await request(server.url, '/readyz')).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(await Promise.all(children.map(exists))).toEqual([false, false]);
  });

  test('replaces a process that is killed, without an error response', async () => {
    await using data = await createDataDirectory();
    const server = await startServer(data.path);
    const [killed = 0, other = 0] = await childProcesses(server.pid);
    process.kill(killed, 'SIGKILL');
    await waitUntil(async () => !(await exists(killed)));
    // the other process serves all new connections
    for (let nth = 0; nth < 10; nth += 1) expect((await request(server.url)).status).toBe(200);
    // the killed process remains a child until the supervisor notices its exit
    const children = await waitUntil(async () => {
      const running = await childProcesses(server.pid);
      return running.length === 2 && !running.includes(killed) && running;
    });
    expect(children).toContain(other);
    expect(server.output()).toContain('a server process exited and will be restarted');
    // the new process reports metrics as soon as it is connected to the database
    await waitUntil(async () => ((await scrapeMetrics(server.metricsPort)).value('mandate_database_connections_max') ?? 0) === 20);
    // the new process accepts this connection as soon as it is listening, and serves all requests after the other one has been killed
    process.kill(other, 'SIGSTOP');
    expect((await request(server.url)).status).toBe(200);
    process.kill(other, 'SIGKILL');
    await waitUntil(async () => !(await exists(other)));
    expect((await request(server.url)).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });

  test('counts rate limits and metrics of both processes together', async () => {
    await using data = await createDataDirectory();
    const limit = 30;
    const server = await startServer(data.path, { MANDATE_RATE_LIMIT_IP: String(limit) });
    const statuses = await Promise.all(Array.from({ length: 2 * limit }, async () => (await request(server.url)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(limit);
    expect(statuses.filter((status) => status === 429)).toHaveLength(limit);
    const labels = (status: string) => ({ method: 'GET', route: '/api/v1/products', status });
    await expect.poll(async () => (await scrapeMetrics(server.metricsPort)).value(requests, labels('429'))).toBe(limit);
    const metrics = await scrapeMetrics(server.metricsPort);
    expect(metrics.value(requests, labels('200'))).toBe(limit);
    // values that apply to the whole installation are not added up
    expect(metrics.value('mandate_database_up')).toBe(1);
    expect(metrics.value('mandate_queue_waiting', { queue: 'mails' })).toBe(0);
    expect(metrics.value('mandate_database_connections_max')).toBe(20);
    expect(await server.stop()).toBe(0);
  });

  test('replaces the processes one after the other on SIGHUP, without a failed request, and keeps its counters', async () => {
    await using data = await createDataDirectory();
    const server = await startServer(data.path, { MANDATE_RATE_LIMIT_IP: '1000000' });
    const before = await childProcesses(server.pid);
    const done = new AbortController();
    const failures: unknown[] = [];
    const sendRequests = async (send: () => Promise<Response>): Promise<number> => {
      let count = 0;
      for (; !done.signal.aborted; count += 1) {
        const response = await send().catch((error: unknown) => void failures.push(error));
        if (response && response.status !== 200) failures.push(response.status);
        await response?.arrayBuffer();
      }
      return count;
    };
    // one client opens a connection for each request; the other keeps its connection open
    const load = [sendRequests(() => request(server.url)), sendRequests(() => fetch(`${server.url}/readyz`))];
    process.kill(server.pid, 'SIGHUP');
    await waitUntil(async () => (await Promise.all(before.map(exists))).every((isRunning) => !isRunning), 60_000);
    // an exited process remains a child until the supervisor notices its exit
    await expect.poll(() => childProcesses(server.pid)).toHaveLength(2);
    const after = await childProcesses(server.pid);
    done.abort();
    const [sentToProducts = 0, sentToReadyz = 0] = await Promise.all(load);
    expect(failures).toEqual([]);
    expect(sentToReadyz).toBeGreaterThan(10);
    expect(after).toHaveLength(2);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    // requests that exited processes handled are still counted
    const products = { method: 'GET', route: '/api/v1/products', status: '200' };
    await expect.poll(async () => (await scrapeMetrics(server.metricsPort)).value(requests, products)).toBe(sentToProducts);
    expect(await server.stop()).toBe(0);
  });

  test('does not start if the first process cannot start', async () => {
    await using data = await createDataDirectory();
    const { code, output } = await runServerUntilExit({
      DATABASE_URL: 'postgres://127.0.0.1:1/shop',
      DATABASE_START_TIMEOUT: '0',
      MANDATE_DATA_DIR: data.path,
      MANDATE_PROCESSES: '2',
    });
    expect(code).toBe(1);
    expect(output.match(/Mandate cannot start\./g)).toHaveLength(1);
  });

  test('stops the server processes when the supervisor is killed', async () => {
    await using data = await createDataDirectory();
    const server = await startServer(data.path);
    const children = await childProcesses(server.pid);
    await server.kill();
    await expect.poll(() => Promise.all(children.map(exists)), { timeout: 30_000 }).toEqual([false, false]);
  });
});

test('the embedded database permits one process', { timeout: 60_000 }, async () => {
  await using data = await createMigratedDataDirectory();
  const { code, output } = await runServerUntilExit({ MANDATE_DATA_DIR: data.path, MANDATE_PROCESSES: '2' });
  expect(code).toBe(1);
  expect(output).toContain('MANDATE_PROCESSES must be 1 or auto without DATABASE_URL: only one process can use the embedded database');
  const server = await startServerProcess({ MANDATE_DATA_DIR: data.path, MANDATE_PROCESSES: 'auto' });
  expect(await childProcesses(server.pid)).toEqual([]);
  expect(await server.stop()).toBe(0);
});
