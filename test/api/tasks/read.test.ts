import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { obtainClientToken, createConfidentialClient, signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { completeTask, runPendingTasks } from '../../support/shop/run-tasks.ts';

const shop = withShop({ sampleData: false });
let anna: string;
let ben: string;

beforeAll(async () => {
  const person = async (): Promise<string> => (await shop.createAccount('customer', ['orders.read', 'tasks.read', 'tasks.write'])).token;
  [anna, ben] = [await person(), await person()];
});

const start = (token = anna, body: object = {}): Promise<ApiResponse> => shop.callApi('POST', '/api/v1/order-exports', { token, body });
const get = (path: string, token = anna, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi('GET', `/api/v1/tasks${path}`, { token, headers });
const cancel = (id: number, token = anna, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi('POST', `/api/v1/tasks/${id}/cancellation`, { token, headers });

describe('access to a task', () => {
  test('is denied to other users with 404', async () => {
    const { task } = await completeTask(shop, anna, await start());
    const expectNotFound = async (response: Promise<ApiResponse>): Promise<void> => {
      const { status, body } = await response;
      expect([status, body.code]).toEqual([404, 'not_found']);
    };
    for (const path of [`/${task.id}`, `/${task.id}/result`, '/987654', '/987654/result']) await expectNotFound(get(path, ben));
    await expectNotFound(cancel(task.id, ben));
    await expectNotFound(cancel(987_654, ben));
    expect((await get('', ben)).body.data).toEqual([]);
  });

  test('of an application is denied to other applications', async () => {
    const scopes = ['orders.read', 'orders.manage', 'tasks.read', 'tasks.write'] as const;
    const [one, other] = [
      await obtainClientToken(shop.origin, await createConfidentialClient(shop.db, scopes), scopes),
      await obtainClientToken(shop.origin, await createConfidentialClient(shop.db, scopes), scopes),
    ];
    const { body } = await start(one);
    expect(body.user_id).toBeNull();
    expect([(await get(`/${body.id}`, one)).status, (await get(`/${body.id}`, other)).status]).toEqual([200, 404]);
  });

  test('requires tasks.read, and tasks.write for a cancellation', async () => {
    const person = await signUp(shop.origin);
    const { access_token: writer } = await obtainTokens(shop.origin, person, ['orders.read', 'tasks.write']);
    const { access_token: reader } = await obtainTokens(shop.origin, person, ['orders.read', 'tasks.read']);
    const { body: task } = await start(writer);
    for (const path of ['', `/${task.id}`, `/${task.id}/result`]) expect((await get(path, writer)).body.code).toBe('insufficient_scope');
    expect((await cancel(task.id, reader)).body.code).toBe('insufficient_scope');
    expect((await shop.callApi('GET', '/api/v1/tasks')).body.code).toBe('missing_token');
    // a task started with orders.read is visible only to tokens with orders.read
    const { access_token: limitedToken } = await obtainTokens(shop.origin, person, ['tasks.read']);
    expect((await get(`/${task.id}`, limitedToken)).status).toBe(404);
  });
});

describe('GET /tasks', () => {
  test('returns tasks newest first, in pages, by type and status', async () => {
    const { token } = await shop.createAccount('customer', ['orders.read', 'tasks.read', 'tasks.write']);
    const ids: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      ids.unshift((await start(token)).body.id);
      await (i % 2 === 0 ? runPendingTasks(shop) : cancel(ids[0] ?? 0, token));
    }
    const idsOf = ({ body }: ApiResponse): number[] => body.data.map(({ id }: JsonBody) => id);
    const first = await get('?limit=3&include_total=true', token);
    expect([idsOf(first), first.body.total_count]).toEqual([ids.slice(0, 3), 5]);
    expect(idsOf(await get(`?limit=3&cursor=${first.body.next_cursor}`, token))).toEqual(ids.slice(3));
    expect(idsOf(await get('?status=canceled', token))).toEqual([ids[1], ids[3]]);
    expect(idsOf(await get('?status=succeeded,failed&type=order_export', token))).toEqual([ids[0], ids[2], ids[4]]);
    expect(idsOf(await get('?type=order_import', token))).toEqual([]);
    expect((await get('?type=order', token)).body.errors).toMatchObject([{ parameter: 'type', code: 'invalid_value' }]);
  });
});

describe('GET /tasks/{task_id}', () => {
  test('returns Retry-After until the task has finished', async () => {
    const { body: task } = await start();
    const waiting = await get(`/${task.id}`);
    expect([waiting.body.status, waiting.headers.get('retry-after'), waiting.headers.get('cache-control')]).toEqual([
      'queued',
      '2',
      'no-store',
    ]);
    await runPendingTasks(shop);
    expect((await get(`/${task.id}`)).headers.get('retry-after')).toBeNull();
  });
});

describe('GET /tasks/{task_id}/result', () => {
  test.each([
    ['csv', 'text/csv; charset=utf-8'],
    ['ndjson', 'application/x-ndjson; charset=utf-8'],
  ])('%s: returns the file with its type, name, length and digest', async (format, type) => {
    const { task, file } = await completeTask(shop, anna, await start(anna, { format }));
    const { headers } = await get(`/${task.id}/result`);
    expect(
      Object.fromEntries(
        ['content-type', 'content-disposition', 'content-length', 'cache-control', 'x-content-type-options'].map((name) => [
          name,
          headers.get(name),
        ]),
      ),
    ).toEqual({
      'content-type': type,
      'content-disposition': `attachment; filename="order-export-${task.id}.${format}"`,
      'content-length': String(Buffer.byteLength(file)),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(headers.get('repr-digest')).toBe(`sha-256=:${Buffer.from(task.result.sha256, 'hex').toString('base64')}:`);
  });

  test('requires a matching Accept header', async () => {
    const { task } = await completeTask(shop, anna, await start());
    for (const [accept, status] of [
      ['text/csv', 200],
      ['*/*', 200],
      ['application/json', 406],
      ['image/png', 406],
    ] as const)
      expect((await get(`/${task.id}/result`, anna, { accept })).status, accept).toBe(status);
  });

  test('409 before the task has finished, and 404 after its cancellation', async () => {
    const { body: task } = await start();
    const early = await get(`/${task.id}/result`);
    expect([early.status, early.body.code, early.headers.get('retry-after')]).toEqual([409, 'task_not_finished', '2']);
    await cancel(task.id);
    expect((await get(`/${task.id}/result`)).body.code).toBe('not_found');
  });

  test('aborts the download if a part of the file is missing', async () => {
    const { task } = await completeTask(shop, anna, await start());
    await shop.db.em.fork().execute('delete from task_file_chunks where file_id = (select output_id from tasks where id = ?)', [task.id]);
    await expect(get(`/${task.id}/result`)).rejects.toThrow('fetch failed');
  });
});

describe('POST /tasks/{task_id}/cancellation', () => {
  test('202 for the first request and its replay, and 409 afterwards', async () => {
    const { body: task } = await start();
    const headers = { 'idempotency-key': 'cancel-1' };
    const first = await cancel(task.id, anna, headers);
    expect([first.status, first.body.status, first.headers.get('location')]).toEqual([202, 'canceled', `/api/v1/tasks/${task.id}`]);
    const again = await cancel(task.id, anna, headers);
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([202, first.text, 'true']);
    expect((await cancel(task.id)).body.code).toBe('invalid_transition');
  });

  test('409 for a successful task, which remains unchanged', async () => {
    const { task } = await completeTask(shop, anna, await start());
    expect((await cancel(task.id)).body.code).toBe('invalid_transition');
    expect((await get(`/${task.id}`)).body).toEqual(task);
  });
});
