import { createClient, type DeprecationNotice } from '@mandate/client-sdk';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startStubServer } from '../stub-server.ts';
import { runInProcess } from '../../cli/run-command-line.ts';

const headers = {
  deprecation: '@1798761600',
  sunset: 'Sat, 01 Jan 2028 12:30:00 GMT',
  link: '</api/v1/orders>; rel="first", <https://shop.example/docs/v2>; rel="deprecation"; type="text/html", <https://shop.example/end>; rel="sunset"',
};
const order = { id: 7, data: [], has_more: false, next_cursor: null };
const deprecated = () => startStubServer(() => ({ headers, body: order }));

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a deprecated operation', () => {
  test('is reported once, with all details of the response', async () => {
    await using server = await deprecated();
    const notices: DeprecationNotice[] = [];
    const client = createClient({ baseUrl: server.url, auth: 'token', onDeprecation: (notice) => notices.push(notice) });
    for (const id of [1, 2, 3]) await client.orders.get(id);
    await client.orders.list();
    for (const id of [1, 2]) await client.request({ method: 'GET', path: `/api/v1/orders/${id}` });
    const known = {
      deprecatedAt: new Date('2027-01-01'),
      sunsetAt: new Date('2028-01-01T12:30:00Z'),
      guide: 'https://shop.example/docs/v2',
    };
    expect(notices).toEqual(['orders.get', 'orders.list', 'GET /api/v1/orders/{id}'].map((operation) => ({ operation, ...known })));
  });

  test('prints one line with console.warn by default, for each client', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    await using server = await deprecated();
    for (const _ of ['one client', 'another']) {
      const client = createClient({ baseUrl: server.url, auth: 'token' });
      await client.orders.get(1);
      await client.orders.get(2);
    }
    const line = 'Mandate: orders.get is deprecated; sunset on 2028-01-01: https://shop.example/docs/v2';
    expect(warn.mock.calls).toEqual([[line], [line]]);
  });

  test('can be reported without end date and guide', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    await using server = await startStubServer(() => ({ headers: { deprecation: 'true' }, body: order }));
    await createClient({ baseUrl: server.url, auth: 'token' }).orders.get(1);
    expect(warn.mock.calls).toEqual([['Mandate: orders.get is deprecated']]);
  });

  test('is also reported for error responses, and other operations are not reported', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    await using server = await startStubServer((_, count) =>
      count === 1 ? { body: order } : { status: 410, headers, body: { code: 'version_retired', title: 'x', status: 410, detail: 'x' } },
    );
    const client = createClient({ baseUrl: server.url, auth: 'token' });
    await client.orders.get(1);
    expect(warn).not.toHaveBeenCalled();
    await expect(client.orders.get(1)).rejects.toMatchObject({ status: 410, code: 'version_retired' });
    expect(warn).toHaveBeenCalledOnce();
  });
});

describe('the CLI', () => {
  test('prints one line to standard error and leaves standard output unchanged', async () => {
    await using server = await startStubServer(() => ({
      headers: { ...headers, link: '<https://x.example/\u009b31m>; rel="deprecation"' },
      body: order,
    }));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'token', MANDATE_ALLOW_INSECURE: '1' };
    const { exitCode, stdout, stderr } = await runInProcess(['orders', 'get', '7', '--json'], { env });
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('"id":7')]);
    expect(stderr).toMatch(/^Note: orders\.get is deprecated; sunset on 2028-01-01: https:\/\/x\.example\/[^\u009b]*\n$/);
    expect((await runInProcess(['orders', 'get', '7', '--quiet'], { env })).stderr).toBe('');
  });
});
