import { contract, listRoutes } from '@mandate/contract';
import { parseList } from 'structured-headers';
import { describe, expect, test } from 'vitest';
import { Application } from '../../../server/applications/application.entity.ts';
import { MonthlyUsageBuffer } from '../../../server/usage/monthly-usage-buffer.ts';
import { startMandateServer, type ApiResponse } from '../../support/server/start-mandate.ts';
import { usesTwoProcesses } from '../../support/server/process-mode.ts';
import { obtainClientToken, createConfidentialClient, signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { createTestShop, buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const limits = { default: 5, apiKey: 4, ip: 3, monthly: 1_000 };

const mandate = withShop({ sampleData: false, rateLimits: limits });
let client: { clientId: string; secret: string };
let token: string;
let addressCount = 0;
/** Returns headers with a client IP address from which no requests have been sent yet. */
const unusedAddress = (): Record<string, string> => ({ 'x-forwarded-for': `203.0.113.${(addressCount += 1)}` });

/** Creates an application that has not sent any requests yet. */
async function newClient(): Promise<void> {
  client = await createConfidentialClient(mandate.db, ['orders.read', 'orders.write', 'orders.manage']);
  token = await obtainClientToken(mandate.origin, client, ['orders.read', 'orders.write', 'orders.manage']);
}

const list = (bearer: string | undefined = token): Promise<ApiResponse> =>
  mandate.callApi('GET', '/api/v1/orders', bearer === undefined ? {} : { token: bearer });

/** The remaining monthly quota, which is inexact with two processes because each process flushes its count every five seconds. */
const monthlyRemaining = (remaining: number): unknown => (usesTwoProcesses ? expect.any(Number) : remaining);

type Limit = { name: unknown; [parameter: string]: unknown };

/** Parses a structured field: a list of strings with integer parameters. */
const parseLimits = (response: ApiResponse | undefined, name: string): Limit[] =>
  parseList(response?.headers.get(name) ?? '').map(([item, parameters]) => ({ name: item, ...Object.fromEntries(parameters) }));

describe('a caller with a token', () => {
  test('receives its limits and the remaining requests as structured fields', async () => {
    await newClient();
    const [first, second] = [await list(), await list()];
    const secondsOfMonth = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 0)).getUTCDate() * 86_400;
    expect(parseLimits(first, 'ratelimit-policy')).toEqual([
      { name: 'default', q: 5, w: 60 },
      { name: 'monthly', q: 1_000, w: secondsOfMonth },
    ]);
    expect(parseLimits(first, 'ratelimit')).toEqual([
      { name: 'default', r: 4, t: expect.any(Number) },
      { name: 'monthly', r: 999, t: expect.any(Number) },
    ]);
    expect(parseLimits(second, 'ratelimit').map(({ r }) => r)).toEqual([3, monthlyRemaining(998)]);
    for (const { t } of parseLimits(second, 'ratelimit')) expect(t).toBeGreaterThan(0);
    expect(first.headers.get('x-ratelimit-limit')).toBeNull();
  });

  test('receives its limits even in error responses', async () => {
    await newClient();
    const { status, headers } = await mandate.callApi('GET', '/api/v1/orders/999999', { token });
    expect([status, headers.get('ratelimit')]).toEqual([404, expect.stringContaining('"default";r=4')]);
    expect((await mandate.callApi('GET', '/api/v1/users', { token })).headers.get('ratelimit')).toContain('"default";r=3');
  });

  test('is rejected with 429 above the limit, before its body is read and without effect', async () => {
    const { db } = mandate;
    const shop = await createTestShop(mandate);
    const product = await shop.createProduct();
    await newClient();
    for (let remaining = 4; remaining >= 0; remaining -= 1) {
      const response = await list();
      expect([response.status, parseLimits(response, 'ratelimit')[0]?.['r']]).toEqual([200, remaining]);
    }
    const body = { ...buildOrderInput([product, 1]), user_id: (await signUp(mandate.origin)).id };
    const count = async (): Promise<unknown> => db.em.fork().execute('select count(*) from orders');
    const before = await count();
    const refused = await mandate.callApi('POST', '/api/v1/orders', { token, body });
    expect(refused.body).toMatchObject({ status: 429, code: 'rate_limited', violated_policies: ['default'] });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(Number(parseLimits(refused, 'ratelimit')[0]?.['t']));
    expect(parseLimits(refused, 'ratelimit').map(({ r }) => r)).toEqual([0, monthlyRemaining(995)]);
    expect(await count()).toEqual(before);
    expect((await mandate.callApi('POST', '/api/v1/orders', { token, body: '{"broken' })).status).toBe(429);
    expect((await mandate.callApi('POST', '/api/v1/orders', { token, body: 'x'.repeat(2_000_000) })).status).toBe(429);
  });

  test.each(listRoutes(contract).map((route) => [`${route.method} ${route.path}`, route] as const))(
    'is rejected by every operation: %s',
    async (_name, { method, path }) => {
      while ((await list()).status !== 429);
      const response = await mandate.callApi(method, path.replaceAll(/:\w+/g, '1'), { token });
      expect([response.status, response.body.code]).toEqual([429, 'rate_limited']);
    },
  );

  test('has a limit per minute for each user, and a monthly quota for the application', async ({ skip }) => {
    skip(usesTwoProcesses, 'needs one process: processes combine the monthly quota only after five seconds');
    const scopes = ['orders.read'] as const;
    const [anna, ben] = [await signUp(mandate.origin), await signUp(mandate.origin)];
    const [annas, bens] = [await obtainTokens(mandate.origin, anna, scopes), await obtainTokens(mandate.origin, ben, scopes)];
    const [first] = parseLimits(await list(annas.access_token), 'ratelimit').slice(1);
    const response = parseLimits(await list(bens.access_token), 'ratelimit');
    expect(response[0]?.['r']).toBe(4);
    expect(response[1]?.['r']).toBe(Number(first?.['r']) - 1);
  });

  test('is accepted again after the window', async ({ skip }) => {
    skip(usesTwoProcesses, 'needs one process: a window of one second cannot be configured');
    const short = await startMandateServer({ rateLimits: { ...limits, default: 1, windowSeconds: 1 } });
    const shortWindowClient = await createConfidentialClient(short.db, ['orders.read', 'orders.manage']);
    const key = await obtainClientToken(short.origin, shortWindowClient, ['orders.read', 'orders.manage']);
    const sendRequest = (): Promise<ApiResponse> => short.callApi('GET', '/api/v1/orders', { token: key });
    expect((await sendRequest()).status).toBe(200);
    const refused = await sendRequest();
    expect(refused.status).toBe(429);
    await new Promise((resolve) => setTimeout(resolve, Number(refused.headers.get('retry-after')) * 1000));
    expect((await sendRequest()).status).toBe(200);
    await short.close();
  });
});

describe('an API key', () => {
  test('has separate limits per minute and per month', async () => {
    const anna = await signUp(mandate.origin);
    const { access_token: annas } = await obtainTokens(mandate.origin, anna, ['api_keys.manage', 'orders.read']);
    const createdKey = await mandate.callApi('POST', '/api/v1/api-keys', { token: annas, body: { name: 'Key', scopes: ['orders.read'] } });
    const responses = [];
    for (let at = 0; at < 5; at += 1) responses.push(await list(createdKey.body.key));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    expect(parseLimits(responses[0], 'ratelimit-policy')).toMatchObject([{ name: 'api-key', q: 4, w: 60 }, { name: 'monthly' }]);
    expect(parseLimits(responses[0], 'ratelimit')[1]).toMatchObject({ r: 999 });
    expect(responses[4]?.body.violated_policies).toEqual(['api-key']);
    expect((await list(annas)).status).toBe(200);
  });
});

describe('a caller without a token', () => {
  const products = (headers: Record<string, string>, bearer?: string): Promise<ApiResponse> =>
    mandate.callApi('GET', '/api/v1/products', { headers, ...(bearer !== undefined && { token: bearer }) });

  test('is counted by IP address', async () => {
    const here = unusedAddress();
    const responses = [];
    for (let at = 0; at < 4; at += 1) responses.push(await products(here));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(parseLimits(responses[0], 'ratelimit-policy')).toEqual([{ name: 'ip', q: 3, w: 60 }]);
    expect(responses[3]?.body.violated_policies).toEqual(['ip']);
    expect((await products(unusedAddress())).status).toBe(200);
  });

  test('with an invalid token is counted by IP address, not for the token owner', async () => {
    const here = unusedAddress();
    await newClient();
    const statuses = [];
    for (let at = 0; at < 4; at += 1) statuses.push((await products(here, `${token}x`)).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await products(here, token)).headers.get('ratelimit')).toContain('"default";r=4');
  });

  test('is counted by the /64 prefix of an IPv6 address', async () => {
    const statuses = [];
    for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::7', '2001:db8:1:3::1'])
      statuses.push((await products({ 'x-forwarded-for': address })).status);
    expect(statuses).toEqual([200, 200, 200, 429, 200]);
  });

  test('is not counted for a preflight request', async () => {
    const here = { ...unusedAddress(), origin: 'https://shop.example', 'access-control-request-method': 'GET' };
    for (let at = 0; at < 5; at += 1) expect((await mandate.callApi('OPTIONS', '/api/v1/products', { headers: here })).status).toBe(204);
  });
});

describe('an application with custom limits', () => {
  test('uses them from the next request on, and the defaults after their removal', async ({ skip }) => {
    skip(usesTwoProcesses, 'needs one process: processes combine the monthly quota only after five seconds');
    await newClient();
    const { id } = await mandate.db.em.fork().findOneOrFail(Application, { clientId: client.clientId });
    const patch = async (body: object): Promise<ApiResponse> => {
      const administrator = await createConfidentialClient(mandate.db, ['applications.manage']);
      const key = await obtainClientToken(mandate.origin, administrator, ['applications.manage']);
      return mandate.callApi('PATCH', `/api/v1/applications/${id}`, { token: key, body });
    };
    expect((await list()).headers.get('ratelimit-policy')).toContain('"default";q=5;');
    expect((await patch({ rate_limit_per_minute: 100, quota_per_month: 3 })).body).toMatchObject({
      rate_limit_per_minute: 100,
      quota_per_month: 3,
    });
    expect((await list()).headers.get('ratelimit-policy')).toMatch(/^"default";q=100;w=60, "monthly";q=3;/);
    expect((await list()).status).toBe(200);
    const refused = await list();
    expect(refused.body).toMatchObject({ code: 'quota_exceeded', violated_policies: ['monthly'] });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(Number(parseLimits(refused, 'ratelimit')[1]?.['t']));
    await patch({ rate_limit_per_minute: null, quota_per_month: null });
    expect((await list()).headers.get('ratelimit-policy')).toContain('"default";q=5;');
    expect((await patch({ rate_limit_per_minute: 0 })).body.errors[0]).toMatchObject({ pointer: '#/rate_limit_per_minute' });
  });
});

describe('the monthly quota', () => {
  test('continues after a restart, and is shared by several processes', async () => {
    await newClient();
    const [first, second] = [new MonthlyUsageBuffer(), new MonthlyUsageBuffer()];
    const now = new Date('2026-02-28T12:00:00Z');
    const count = async (buffer: MonthlyUsageBuffer, limit = 5): Promise<string> => {
      const { requests, exceeded } = await buffer.countRequest(mandate.db.em.fork(), client.clientId, limit, true, now);
      return `${requests}${exceeded ? ' exceeded' : ''}`;
    };
    expect([await count(first), await count(first), await count(second)]).toEqual(['1', '2', '1']);
    await first.flush(mandate.db.em.fork());
    await second.flush(mandate.db.em.fork());
    // a flush also reads the other process's count
    expect(await count(second)).toBe('4');
    await second.flush(mandate.db.em.fork());
    expect(await count(new MonthlyUsageBuffer())).toBe('5');
    expect([await count(second), await count(second)]).toEqual(['5', '5 exceeded']);
    const march = await second.countRequest(mandate.db.em.fork(), client.clientId, 5, true, new Date('2026-03-01T00:00:00Z'));
    expect(march).toEqual({ requests: 1, exceeded: false });
  });

  test('loses no requests if a flush fails', async () => {
    await newClient();
    const buffer = new MonthlyUsageBuffer();
    const now = new Date();
    const counted = (): Promise<unknown> => buffer.countRequest(mandate.db.em.fork(), client.clientId, 10, true, now);
    await Promise.all(Array.from({ length: 5 }, counted));
    const broken = mandate.db.em.fork();
    broken.transactional = () => Promise.reject(new Error('away'));
    for (let at = 0; at < 3; at += 1) await expect(buffer.flush(broken)).rejects.toThrow('away');
    await buffer.flush(mandate.db.em.fork());
    for (let at = 0; at < 2; at += 1) await buffer.flush(mandate.db.em.fork());
    const rows = await mandate.db.em.fork().execute('select requests from usage_months where client_id = ?', [client.clientId]);
    expect(rows).toEqual([{ requests: 5 }]);
  });
});
