import { afterEach, describe, expect, test } from 'vitest';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { scrapeMetrics } from '../../support/metrics.ts';
import { findPostgresql, startPostgresql } from '../../support/services/postgresql-server.ts';
import {
  obtainAdministrationToken,
  killServerProcesses,
  readFirstRunFile,
  startServerProcess,
  createDataDirectory,
} from '../../support/server/server-process.ts';
import { placeOrder, readOrder, createOrderClient } from './order-client.ts';

afterEach(killServerProcesses);

const requests = 'mandate_http_requests_total';

async function requestToken(url: string, id: string, secret: string, form: Record<string, string>): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  return fetch(`${url}/oauth/token`, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) });
}

describe('/metrics', { timeout: 300_000 }, () => {
  test('counts requests by route and status, tokens, connections and queues, without personal data', async () => {
    await using data = await createDataDirectory();
    const port = await findFreePort();
    const database = databaseKind === 'postgresql' ? { DATABASE_URL: await createMigratedPostgresqlUrl() } : {};
    const server = await startServerProcess({ MANDATE_DATA_DIR: data.path, MANDATE_METRICS_PORT: String(port), ...database });
    const orderClient = await createOrderClient(server.url, data.path);
    const { id } = await placeOrder(orderClient, 'counted');
    for (let nth = 0; nth < 3; nth += 1) await readOrder(orderClient, id);
    await expect(readOrder(orderClient, 4_711_000)).rejects.toThrow('404');
    await fetch(`${server.url}/somewhere/else-4711?secret=hunter2`);
    await fetch(`${server.url}/healthz`);
    const { client_id: client, client_secret: secret } = (await readFirstRunFile(data.path)).applications.administration;
    await requestToken(server.url, client, 'hunter2', { grant_type: 'client_credentials' });
    await requestToken(server.url, client, secret, { grant_type: 'hunter2' });
    // Only token requests are counted, not a browser's preflight request or a GET request.
    await fetch(`${server.url}/oauth/token`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect((await fetch(`${server.url}/oauth/token`)).ok).toBe(false);
    const token = await obtainAdministrationToken(server.url, data.path);
    await fetch(`${server.url}/oauth/revocation`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ token }),
    });

    // a response is counted only after it has been sent
    await expect
      .poll(async () => (await scrapeMetrics(port)).value(requests, { method: 'POST', route: '/oauth/revocation', status: '200' }))
      .toBe(1);
    const metrics = await scrapeMetrics(port);
    expect(metrics.value(requests, { method: 'POST', route: '/api/v1/orders', status: '201' })).toBe(1);
    expect(metrics.value(requests, { method: 'GET', route: '/api/v1/orders/:order_id', status: '200' })).toBe(3);
    expect(metrics.value(requests, { method: 'GET', route: '/api/v1/orders/:order_id', status: '404' })).toBe(1);
    expect(metrics.value(requests, { method: 'GET', route: 'none', status: '404' })).toBe(1);
    expect(metrics.value('mandate_http_request_duration_seconds_count', { method: 'GET', route: '/api/v1/orders/:order_id' })).toBe(4);
    expect(metrics.value('mandate_tokens_issued_total', { grant_type: 'client_credentials' })).toBe(2);
    expect(metrics.value('mandate_tokens_refused_total', { grant_type: 'client_credentials', error: 'invalid_client' })).toBe(1);
    expect(metrics.value('mandate_tokens_refused_total', { grant_type: 'other', error: 'unsupported_grant_type' })).toBe(1);
    expect(metrics.text.match(/^mandate_tokens_refused_total\{/gm)).toHaveLength(2);
    expect(metrics.value('mandate_tokens_revoked_total', { reason: 'application' })).toBe(1);
    expect(metrics.value('mandate_requests_working')).toBe(0);
    expect(metrics.value('mandate_requests_refused_total', { reason: 'overloaded' })).toBe(0);
    expect(metrics.value('mandate_database_up')).toBe(1);
    for (const queue of ['events', 'logout_tokens', 'mails', 'provider_events', 'tasks', 'webhooks'])
      expect(metrics.value('mandate_queue_waiting', { queue }), queue).toBeTypeOf('number');
    expect(metrics.value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(metrics.value('mandate_database_connections_max')).toBe(databaseKind === 'postgresql' ? 10 : 0);
    const statements = metrics.value('mandate_database_statement_duration_seconds_count') ?? 0;
    expect(statements > 10).toBe(databaseKind === 'postgresql');
    expect(metrics.text).not.toMatch(/hunter2|healthz|somewhere/);
    expect(metrics.text).not.toContain(token);

    const isPostgresql = databaseKind === 'postgresql';
    const [idle, busy] = ['idle', 'busy'].map((state) => metrics.value('mandate_database_connections', { state }));
    // The metric covers only the main pool. The notification listener's connection is not part of a pool.
    expect(idle).toBeGreaterThanOrEqual(isPostgresql ? 1 : 0);
    expect(busy).toBeGreaterThanOrEqual(0);
    expect(metrics.value('mandate_database_connection_waiters')).toBe(0);

    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/api/v1/products`)).status).toBe(404);
    expect(await server.stop()).toBe(0);
  });

  test.skipIf(databaseKind === 'pglite')('responds without the database, and reports the database as down', async () => {
    await using data = await createDataDirectory();
    const port = await findFreePort();
    const postgresql = await startPostgresql(await findPostgresql());
    await startServerProcess({ MANDATE_DATA_DIR: data.path, MANDATE_METRICS_PORT: String(port), DATABASE_URL: postgresql.url });
    expect((await scrapeMetrics(port)).value('mandate_database_up')).toBe(1);
    await postgresql.stop();
    const metrics = await scrapeMetrics(port);
    expect(metrics.value('mandate_database_up')).toBe(0);
    expect(metrics.value('mandate_queue_waiting', { queue: 'events' })).toBeUndefined();
    expect(metrics.value('process_resident_memory_bytes')).toBeGreaterThan(0);
  });
});
