import { contract, listRoutes } from '@mandate/contract';
import { parseList } from 'structured-headers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Application } from '../../../server/applications/application.entity.ts';
import { MonthlyUsageBuffer } from '../../../server/usage/usage-buffer.ts';
import { startMandate, type Answer, type Mandate } from '../../support/server/start-mandate.ts';
import { inTwoProcesses } from '../../support/server/process-mode.ts';
import { clientCredentials, confidentialClient, signUp, tokensFor } from '../../support/oauth/oauth-flow.ts';
import { openShop, pickup } from '../../support/server/shop.ts';

const limits = { default: 5, apiKey: 4, ip: 3, monthly: 1_000 };

let mandate: Mandate;
let client: { clientId: string; secret: string };
let token: string;
let from = 0;
/** An address that nobody has asked from yet. */
const somewhere = (): Record<string, string> => ({ 'x-forwarded-for': `203.0.113.${(from += 1)}` });

beforeAll(async () => {
  mandate = await startMandate({ rateLimits: limits });
});
afterAll(() => mandate.close());

/** An application of its own, so that nobody has counted for it yet. */
async function newClient(): Promise<void> {
  client = await confidentialClient(mandate.db, ['orders.read', 'orders.write', 'orders.manage']);
  token = await clientCredentials(mandate.origin, client, ['orders.read', 'orders.write', 'orders.manage']);
}

const list = (given: string | undefined = token): Promise<Answer> =>
  mandate.call('GET', '/api/v1/orders', given === undefined ? {} : { token: given });

/** What is left of the month: each process counts it for itself for five seconds, and then together. */
const ofMonth = (left: number): unknown => (inTwoProcesses ? expect.any(Number) : left);

type Limit = { name: unknown; [parameter: string]: unknown };

/** A list of strings with integers as parameters, by a parser of structured fields. */
const parsed = (answer: Answer | undefined, name: string): Limit[] =>
  parseList(answer?.headers.get(name) ?? '').map(([item, parameters]) => ({ name: item, ...Object.fromEntries(parameters) }));

describe('a caller with a token', () => {
  test('is told its limits and what is left of them, in structured fields', async () => {
    await newClient();
    const [first, second] = [await list(), await list()];
    const secondsOfMonth = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 0)).getUTCDate() * 86_400;
    expect(parsed(first, 'ratelimit-policy')).toEqual([
      { name: 'default', q: 5, w: 60 },
      { name: 'monthly', q: 1_000, w: secondsOfMonth },
    ]);
    expect(parsed(first, 'ratelimit')).toEqual([
      { name: 'default', r: 4, t: expect.any(Number) },
      { name: 'monthly', r: 999, t: expect.any(Number) },
    ]);
    expect(parsed(second, 'ratelimit').map(({ r }) => r)).toEqual([3, ofMonth(998)]);
    for (const { t } of parsed(second, 'ratelimit')) expect(t).toBeGreaterThan(0);
    expect(first.headers.get('x-ratelimit-limit')).toBeNull();
  });

  test('is told on failures too', async () => {
    await newClient();
    const { status, headers } = await mandate.call('GET', '/api/v1/orders/999999', { token });
    expect([status, headers.get('ratelimit')]).toEqual([404, expect.stringContaining('"default";r=4')]);
    expect((await mandate.call('GET', '/api/v1/users', { token })).headers.get('ratelimit')).toContain('"default";r=3');
  });

  test('of which one request is too many is refused with 429, before its body is read and without any effect', async () => {
    const { db } = mandate;
    const shop = await openShop(mandate);
    const product = await shop.product();
    await newClient();
    for (let left = 4; left >= 0; left -= 1) {
      const answer = await list();
      expect([answer.status, parsed(answer, 'ratelimit')[0]?.['r']]).toEqual([200, left]);
    }
    const body = { items: [{ product_id: product.id, quantity: 1 }], delivery: pickup, user_id: (await signUp(mandate.origin)).id };
    const count = async (): Promise<unknown> => db.em.fork().execute('select count(*) from orders');
    const before = await count();
    const refused = await mandate.call('POST', '/api/v1/orders', { token, body });
    expect(refused.body).toMatchObject({ status: 429, code: 'rate_limited', violated_policies: ['default'] });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(Number(parsed(refused, 'ratelimit')[0]?.['t']));
    expect(parsed(refused, 'ratelimit').map(({ r }) => r)).toEqual([0, ofMonth(995)]);
    expect(await count()).toEqual(before);
    expect((await mandate.call('POST', '/api/v1/orders', { token, body: '{"broken' })).status).toBe(429);
    expect((await mandate.call('POST', '/api/v1/orders', { token, body: 'x'.repeat(2_000_000) })).status).toBe(429);
  });

  test.each(listRoutes(contract).map((route) => [`${route.method} ${route.path}`, route] as const))(
    'is refused so by every operation: %s',
    async (_name, { method, path }) => {
      while ((await list()).status !== 429);
      const answer = await mandate.call(method, path.replaceAll(/:\w+/g, '1'), { token });
      expect([answer.status, answer.body.code]).toEqual([429, 'rate_limited']);
    },
  );

  test('shares no minute with another person of the same application, but the month', async ({ skip }) => {
    skip(inTwoProcesses, 'needs one process: the month is counted together after five seconds');
    const scopes = ['orders.read'] as const;
    const [anna, ben] = [await signUp(mandate.origin), await signUp(mandate.origin)];
    const [annas, bens] = [await tokensFor(mandate.origin, anna, scopes), await tokensFor(mandate.origin, ben, scopes)];
    const [first] = parsed(await list(annas.access_token), 'ratelimit').slice(1);
    const answer = parsed(await list(bens.access_token), 'ratelimit');
    expect(answer[0]?.['r']).toBe(4);
    expect(answer[1]?.['r']).toBe(Number(first?.['r']) - 1);
  });

  test('goes on when the window has ended', async ({ skip }) => {
    skip(inTwoProcesses, 'needs one process: a window of a second cannot be configured');
    const short = await startMandate({ rateLimits: { ...limits, default: 1, windowSeconds: 1 } });
    const own = await confidentialClient(short.db, ['orders.read', 'orders.manage']);
    const key = await clientCredentials(short.origin, own, ['orders.read', 'orders.manage']);
    const ask = (): Promise<Answer> => short.call('GET', '/api/v1/orders', { token: key });
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused.status).toBe(429);
    await new Promise((resolve) => setTimeout(resolve, Number(refused.headers.get('retry-after')) * 1000));
    expect((await ask()).status).toBe(200);
    await short.close();
  });
});

describe('an API key', () => {
  test('has a limit of its own, and a month of its own', async () => {
    const anna = await signUp(mandate.origin);
    const { access_token: annas } = await tokensFor(mandate.origin, anna, ['api_keys.manage', 'orders.read']);
    const made = await mandate.call('POST', '/api/v1/api-keys', { token: annas, body: { name: 'Key', scopes: ['orders.read'] } });
    const answers = [];
    for (let at = 0; at < 5; at += 1) answers.push(await list(made.body.key));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    expect(parsed(answers[0], 'ratelimit-policy')).toMatchObject([{ name: 'api-key', q: 4, w: 60 }, { name: 'monthly' }]);
    expect(parsed(answers[0], 'ratelimit')[1]).toMatchObject({ r: 999 });
    expect(answers[4]?.body.violated_policies).toEqual(['api-key']);
    expect((await list(annas)).status).toBe(200);
  });
});

describe('a caller without a token', () => {
  const products = (headers: Record<string, string>, given?: string): Promise<Answer> =>
    mandate.call('GET', '/api/v1/products', { headers, ...(given !== undefined && { token: given }) });

  test('is counted by its address', async () => {
    const here = somewhere();
    const answers = [];
    for (let at = 0; at < 4; at += 1) answers.push(await products(here));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(parsed(answers[0], 'ratelimit-policy')).toEqual([{ name: 'ip', q: 3, w: 60 }]);
    expect(answers[3]?.body.violated_policies).toEqual(['ip']);
    expect((await products(somewhere())).status).toBe(200);
  });

  test('and one whose token is refused: the owner of the token has nothing counted', async () => {
    const here = somewhere();
    await newClient();
    const statuses = [];
    for (let at = 0; at < 4; at += 1) statuses.push((await products(here, `${token}x`)).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await products(here, token)).headers.get('ratelimit')).toContain('"default";r=4');
  });

  test('is counted by the /64 of an IPv6 address', async () => {
    const statuses = [];
    for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::7', '2001:db8:1:3::1'])
      statuses.push((await products({ 'x-forwarded-for': address })).status);
    expect(statuses).toEqual([200, 200, 200, 429, 200]);
  });

  test('is not counted for a preflight', async () => {
    const here = { ...somewhere(), origin: 'https://shop.example', 'access-control-request-method': 'GET' };
    for (let at = 0; at < 5; at += 1) expect((await mandate.call('OPTIONS', '/api/v1/products', { headers: here })).status).toBe(204);
  });
});

describe('an application with limits of its own', () => {
  test('has them from the next request on, and the usual ones again when they are taken back', async ({ skip }) => {
    skip(inTwoProcesses, 'needs one process: the month is counted together after five seconds');
    await newClient();
    const { id } = await mandate.db.em.fork().findOneOrFail(Application, { clientId: client.clientId });
    const patch = async (body: object): Promise<Answer> => {
      const administrator = await confidentialClient(mandate.db, ['applications.manage']);
      const key = await clientCredentials(mandate.origin, administrator, ['applications.manage']);
      return mandate.call('PATCH', `/api/v1/applications/${id}`, { token: key, body });
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
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(Number(parsed(refused, 'ratelimit')[1]?.['t']));
    await patch({ rate_limit_per_minute: null, quota_per_month: null });
    expect((await list()).headers.get('ratelimit-policy')).toContain('"default";q=5;');
    expect((await patch({ rate_limit_per_minute: 0 })).body.errors[0]).toMatchObject({ pointer: '#/rate_limit_per_minute' });
  });
});

describe('the month', () => {
  test('is counted on after a restart, and by several processes together', async () => {
    await newClient();
    const [first, second] = [new MonthlyUsageBuffer(), new MonthlyUsageBuffer()];
    const now = new Date('2026-02-28T12:00:00Z');
    const count = async (use: MonthlyUsageBuffer, limit = 5): Promise<string> => {
      const { requests, exceeded } = await use.countRequest(mandate.db.em.fork(), client.clientId, limit, true, now);
      return `${requests}${exceeded ? ' exceeded' : ''}`;
    };
    expect([await count(first), await count(first), await count(second)]).toEqual(['1', '2', '1']);
    await first.flush(mandate.db.em.fork());
    await second.flush(mandate.db.em.fork());
    // what the other one wrote is known after the own writing
    expect(await count(second)).toBe('4');
    await second.flush(mandate.db.em.fork());
    expect(await count(new MonthlyUsageBuffer())).toBe('5');
    expect([await count(second), await count(second)]).toEqual(['5', '5 exceeded']);
    const march = await second.countRequest(mandate.db.em.fork(), client.clientId, 5, true, new Date('2026-03-01T00:00:00Z'));
    expect(march).toEqual({ requests: 1, exceeded: false });
  });

  test('loses nothing when it cannot be written', async () => {
    await newClient();
    const use = new MonthlyUsageBuffer();
    const now = new Date();
    const counted = (): Promise<unknown> => use.countRequest(mandate.db.em.fork(), client.clientId, 10, true, now);
    await Promise.all(Array.from({ length: 5 }, counted));
    const broken = mandate.db.em.fork();
    broken.getKysely = () => {
      throw new Error('away');
    };
    for (let at = 0; at < 3; at += 1) await expect(use.flush(broken)).rejects.toThrow('away');
    await use.flush(mandate.db.em.fork());
    for (let at = 0; at < 2; at += 1) await use.flush(mandate.db.em.fork());
    const rows = await mandate.db.em.fork().execute('select requests from usage_months where client_id = ?', [client.clientId]);
    expect(rows).toEqual([{ requests: 5 }]);
  });
});
