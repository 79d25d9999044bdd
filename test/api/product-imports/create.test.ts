import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { completeImport, completeTask, parseRemarks, runPendingTasks, abandonTaskAtStep } from '../../support/shop/run-tasks.ts';

const shop = withShop();

const start = (body: string, query = '', headers: Record<string, string> = {}, token = shop.token): Promise<ApiResponse> =>
  shop.callApi('POST', `/api/v1/product-imports${query}`, { token, body, headers: { 'content-type': 'text/csv', ...headers } });
const runImport = async (body: string, query = '', headers: Record<string, string> = {}) =>
  completeImport(shop, shop.token, await start(body, query, headers));
async function runFailingImport(body: string, query = ''): Promise<JsonBody> {
  const { body: task } = await start(body, query);
  await runPendingTasks(shop);
  const { body: finished } = await shop.callApi('GET', `/api/v1/tasks/${task.id}`, { token: shop.token });
  expect(finished.status).toBe('failed');
  return finished.error;
}
const productBySku = async (sku: string): Promise<JsonBody> =>
  (await shop.callApi('GET', `/api/v1/products?sku=${encodeURIComponent(sku)}&status=draft,active,archived`, { token: shop.token })).body
    .data[0];
const runQuery = async (sql: string): Promise<[JsonBody]> => shop.db.em.fork().execute(sql);
const countRows = async (table: string): Promise<number> => (await runQuery(`select count(*)::int as count from ${table}`))[0].count;

describe('202', () => {
  test('creates and updates products, and keeps the fields that the file does not contain', async () => {
    const csv =
      'sku,name,category,price,currency,tax_rate_bps,stock,status\r\nP-1,Heart,decoration,255,EUR,2000,7,active\r\nP-2,"Mug, ""big""",kitchen,900,EUR,,,\r\n';
    const first = await runImport(csv);
    expect([first.counts, first.remarks]).toEqual([{ created: 2, updated: 0, unchanged: 0, refused: 0, differing: 0 }, []]);
    expect(first.task.progress).toEqual({ processed: 2, total: 2 });
    expect(await productBySku('P-1')).toMatchObject({
      name: 'Heart',
      price: 255,
      tax_rate_bps: 2000,
      stock: 7,
      status: 'active',
      version: 1,
    });
    expect(await productBySku('P-2')).toMatchObject({ name: 'Mug, "big"', stock: null, status: 'draft' });
    expect((await runImport(csv)).counts).toEqual({ created: 0, updated: 0, unchanged: 2, refused: 0, differing: 0 });

    const second = await runImport('sku,price\nP-1,300\nP-2,900\n');
    expect(second.counts).toEqual({ created: 0, updated: 1, unchanged: 1, refused: 0, differing: 0 });
    expect(await productBySku('P-1')).toMatchObject({ name: 'Heart', price: 300, stock: 7, version: 2 });
    const events = await shop.db.em
      .fork()
      .execute(`select type from events where subject_type = 'product' and subject_id = ? order by id`, [(await productBySku('P-1')).id]);
    expect(events.map(({ type }: JsonBody) => type)).toEqual(['product.created', 'product.updated']);
  });

  test('creates the stock, a stock adjustment and an event for each product', async () => {
    const skus = ['E-1', 'E-2', 'E-3'];
    await runImport(
      `sku,name,category,price,currency,stock\n${skus.map((sku, index) => `${sku},Each,each,100,EUR,${index + 4}\n`).join('')}`,
    );
    expect(await Promise.all(skus.map(async (sku) => (await productBySku(sku)).stock))).toEqual([4, 5, 6]);
    const [recorded] = await runQuery(
      `select (select count(*)::int from stock_adjustments join products on products.id = product_id where category = 'each') as adjustments,
              (select count(*)::int from events where type = 'product.created' and data ->> 'category' = 'each') as events`,
    );
    expect(recorded).toEqual({ adjustments: 3, events: 3 });
  });

  test('reads custom column names and decimals, and applies defaults for absent columns', async () => {
    const query = '?sku_column=Art.-Nr.&name_column=Bezeichnung&price_column=Preis&amounts=decimal&currency=KWD&category=imported';
    const { counts } = await runImport('\uFEFFArt.-Nr.,Bezeichnung,Preis\nK-1,Tee,1.205\nK-2,Kaffee,2\n', query);
    expect(counts.created).toBe(2);
    expect([(await productBySku('K-1')).price, (await productBySku('K-2')).price]).toEqual([1205, 2000]);
    expect(await productBySku('K-1')).toMatchObject({ currency: 'KWD', category: 'imported' });
  });

  test('reads one JSON object per line', async () => {
    const lines = [
      { sku: 'J-1', name: 'One', price: 5 },
      'x',
      { sku: 'J-2', name: 'Two', price: 5.5 },
      { sku: 'J-3', name: 'Three', price: 0 },
    ];
    const body = lines.map((line) => JSON.stringify(line)).join('\n');
    const { counts, remarks } = await runImport(body, '?currency=EUR&category=json', { 'content-type': 'application/x-ndjson' });
    expect(counts).toEqual({ created: 2, updated: 0, unchanged: 0, refused: 2, differing: 0 });
    expect(remarks).toMatchObject([
      { line: 2, code: 'unreadable' },
      { line: 3, field: 'price' },
    ]);
  });

  test('rejects invalid rows individually, with line and field', async () => {
    const csv = [
      'sku,name,category,price,currency,status',
      'B-1,Good,a,1,EUR,active',
      'B-2,,a,1,EUR,',
      'B-3,"Two\nlines",a,1,EUR,',
      'B-4,Price,a,-1,EUR,',
      'B-5,Price,a,1.5,EUR,',
      'B-6,Price,a,1e3,EUR,',
      'B-7,Category,Not A Slug,1,EUR,',
      'B-8,Currency,a,1,euro,',
      'B-9,Status,a,1,EUR,gone',
      'B-10,Too few,a',
      ',No sku,a,1,EUR,',
      'B-1,Good,a,1,USD,active',
      'B-1,Better,a,1,EUR,draft',
      'B-11,Good,a,1,EUR,active',
    ].join('\n');
    const { counts, remarks } = await runImport(csv);
    expect(counts).toEqual({ created: 2, updated: 0, unchanged: 0, refused: 12, differing: 0 });
    expect(remarks.map(({ line, field, code }) => [line, field, code])).toEqual([
      [3, 'name', 'required'],
      [5, 'name', 'invalid_value'],
      [6, 'price', 'invalid_value'],
      [7, 'price', 'invalid_value'],
      [8, 'price', 'invalid_value'],
      [9, 'category', 'invalid_value'],
      [10, 'currency', 'invalid_value'],
      [11, 'status', 'invalid_value'],
      [12, undefined, 'unreadable'],
      [13, 'sku', 'required'],
      [14, 'currency', 'read_only_field'],
      [15, 'status', 'invalid_transition'],
    ]);
    // a rejected row does not change any field of the product
    expect(await productBySku('B-1')).toMatchObject({ name: 'Good', version: 1 });
  });

  test('names the line of a row that the database rejects, and imports nothing of its batch', async () => {
    await runQuery(`alter table products add constraint planted check (name <> 'planted') not valid`);
    const error = await runFailingImport('sku,name,category,price,currency\nL-1,One,a,1,EUR\nL-2,planted,a,1,EUR\nL-3,Three,a,1,EUR\n');
    await runQuery('alter table products drop constraint planted');
    expect(error).toMatchObject({ code: 'invalid_data', detail: expect.stringMatching(/^Line 3: /) });
    expect(await productBySku('L-1')).toBeUndefined();
  });

  test('removes the apostrophe that an export adds before formulas', async () => {
    await runImport("sku,name,category,price,currency\nF-1,'=1+1,a,1,EUR\nF-2,'quoted,a,1,EUR\n");
    expect([(await productBySku('F-1')).name, (await productBySku('F-2')).name]).toEqual(['=1+1', "'quoted"]);
  });

  test('dry_run reports the result, and changes nothing', async () => {
    const events = `events where subject_type <> 'task'`;
    const before = [await countRows('products'), await countRows(events)];
    const { counts, remarks, task } = await runImport(
      'sku,name,category,price,currency\nD-1,One,a,1,EUR\nD-2,,a,1,EUR\nP-1,Renamed,a,1,EUR\n',
      '?dry_run=true',
    );
    expect([counts, remarks.length]).toEqual([{ created: 1, updated: 1, unchanged: 0, refused: 1, differing: 0 }, 1]);
    expect(task.params.dry_run).toBe('true');
    expect([await countRows('products'), await countRows(events), (await productBySku('P-1')).name]).toEqual([...before, 'Heart']);
  });

  test('resumes after a crash, with the same counts', async () => {
    const rows = Array.from({ length: 950 }, (_, n) => (n % 10 === 9 ? `R-${n},,a,1,EUR` : `R-${n},Name ${n},a,${n},EUR`));
    const { body: task } = await start(`sku,name,category,price,currency\n${rows.join('\n')}\n`);
    for (const step of [2, 2, 3]) {
      await abandonTaskAtStep(shop, step);
      await shop.db.em.fork().execute('update tasks set lease_until = now() where id = ?', [task.id]);
    }
    await runPendingTasks(shop);
    const { body: done } = await shop.callApi('GET', `/api/v1/tasks/${task.id}`, { token: shop.token });
    expect(done).toMatchObject({
      progress: { processed: 950, total: 950 },
      result: { rows: 95, imported: { created: 855, refused: 95, updated: 0, unchanged: 0 } },
    });
    const remarks = parseRemarks((await shop.callApi('GET', `/api/v1/tasks/${task.id}/result`, { token: shop.token })).text);
    expect(remarks.map(({ line }) => line)).toEqual(Array.from({ length: 95 }, (_, n) => n * 10 + 11));
  });

  test('rejects a row with a NUL character, and continues', async () => {
    const csv = await runImport('sku,name,category,price,currency\nN\0-1,One,a,1,EUR\nN-2,T\0wo,a,1,EUR\nN-3,Three,a,1,EUR\n');
    expect([csv.counts, csv.remarks.map(({ line, code }) => [line, code])]).toMatchObject([
      { created: 1, refused: 2 },
      [
        [2, 'unreadable'],
        [3, 'unreadable'],
      ],
    ]);
    const lines = ['N-4', 'N-5\0'].map((sku) => JSON.stringify({ sku, name: 'Four', price: 4 }));
    const json = await runImport(lines.join('\n'), '?currency=EUR&category=json', { 'content-type': 'application/x-ndjson' });
    expect(json.remarks).toMatchObject([{ line: 2, code: 'unreadable' }]);
  });

  test('returns the same task for the same idempotency key and file, and an error for another file', async () => {
    const csv = 'sku,name,category,price,currency\nI-1,One,a,1,EUR\n';
    const key = { 'idempotency-key': 'import-1' };
    const first = await start(csv, '', key);
    const files = await countRows('task_files');
    const second = await start(csv, '', key);
    expect([second.status, second.text, second.headers.get('idempotent-replayed')]).toEqual([202, first.text, 'true']);
    expect((await start(csv.replace('One', 'Two'), '', key)).body.code).toBe('idempotency_key_reused');
    expect((await start(csv, '?dry_run=true', key)).body.code).toBe('idempotency_key_reused');
    expect(await countRows('task_files')).toBe(files);
    await completeTask(shop, shop.token, first);
  });
});

describe('an invalid file fails completely, and changes nothing', () => {
  const header = 'sku,name,category,price,currency\n';
  test.each([
    ['an unclosed quote', `${header}X-1,One,a,1,EUR\nX-2,"Two,a,1,EUR\n`, 'malformed_csv', /line/i],
    ['a duplicate column', 'sku,sku,name\nX-1,X-1,One\n', 'duplicate_column', /sku/],
    ['no SKU column', 'code,name\nX-1,One\n', 'missing_column', /"sku"/],
    ['a truncated file', `${header}X-1,One,a,1,EUR\nX-2,Two`, 'truncated_file', /line 3/],
    ['a row of more than 100,000 bytes', `${header}X-1,One,a,1,EUR\nX-2,"${'x\n'.repeat(50_001)}",a,1,EUR\n`, 'malformed_csv', /100000/],
  ])('%s', async (_label, body, code, detail) => {
    const error = await runFailingImport(body);
    expect(error).toEqual({ code, detail: expect.stringMatching(detail) });
    expect(await productBySku('X-1')).toBeUndefined();
  });
});

describe('400, 413 and 415', () => {
  test('rejects an empty body, invalid UTF-8 and invalid parameters', async () => {
    expect((await start('')).body).toMatchObject({ status: 400, code: 'invalid_request' });
    for (const bytes of [Buffer.from([0x73, 0x6b, 0x75, 0xff]), Buffer.from([0x73, 0xc3])]) {
      const response = await fetch(`${shop.origin}/api/v1/product-imports`, {
        method: 'POST',
        headers: { authorization: `Bearer ${shop.token}`, 'content-type': 'text/csv' },
        body: bytes,
      });
      expect(await response.json()).toMatchObject({ status: 400, code: 'invalid_request', detail: 'The file is not valid UTF-8.' });
    }
    const { body } = await start('sku\n1\n', '?amounts=cents&colour=red');
    expect(body.errors.map((entry: JsonBody) => `${entry.parameter} ${entry.code}`)).toEqual([
      'amounts invalid_value',
      'colour unknown_parameter',
    ]);
  });

  test.each([
    ['application/json', {}],
    ['text/plain', {}],
    ['text/csv; charset=latin1', {}],
    ['text/csv', { 'content-encoding': 'gzip' }],
  ])('rejects %s %j', async (type, headers) => {
    expect((await start('sku\n1\n', '', { 'content-type': type, ...headers })).body).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
    });
  });

  test('stores a file of more than 50 MB while it arrives, with and without Content-Length', async () => {
    const megabytes = 55;
    for (const headers of [{ 'content-length': String(megabytes * 1_000_000) }, { 'transfer-encoding': 'chunked' }]) {
      const req = request(`${shop.origin}/api/v1/product-imports`, {
        method: 'POST',
        headers: { authorization: `Bearer ${shop.token}`, 'content-type': 'text/csv', ...headers },
      });
      const responsePromise = once(req, 'response');
      for (let sent = 0; sent < megabytes; sent += 1) if (!req.write(Buffer.alloc(1_000_000, 'x,y\n'))) await once(req, 'drain');
      req.end();
      const [response] = await responsePromise;
      let text = '';
      for await (const chunk of response) text += String(chunk);
      expect(response.statusCode, text).toBe(202);
      const { id } = JSON.parse(text);
      const [{ bytes }] = await runQuery(
        `select sum(octet_length(content))::int as bytes from task_file_chunks where file_id = (select input_id from tasks where id = ${id})`,
      );
      expect(bytes).toBe(megabytes * 1_000_000);
      await shop.callApi('POST', `/api/v1/tasks/${id}/cancellation`, { token: shop.token });
    }
  }, 60_000);

  test('a client that disconnects during the upload leaves no stored file', async () => {
    const files = await countRows('task_files');
    const req = request(`${shop.origin}/api/v1/product-imports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shop.token}`, 'content-type': 'text/csv', 'content-length': '1000000' },
    });
    req.on('error', () => undefined);
    req.write('sku,name\n'.repeat(40_000));
    await expect.poll(() => countRows('task_files')).toBe(files + 1);
    req.destroy();
    await expect.poll(() => countRows('task_files')).toBe(files);
  });
});

describe('403', () => {
  test('requires products.write and a staff account', async () => {
    const { token: customer } = await shop.createAccount('customer', ['tasks.write']);
    expect((await start('sku\n1\n', '', {}, customer)).body.code).toBe('insufficient_scope');
    const staffUser = await signUpWithRole(shop.db, shop.origin, 'staff');
    const { access_token: staff } = await obtainTokens(shop.origin, staffUser, ['tasks.write', 'products.write']);
    expect((await start('sku,name,category,price,currency\nS-1,One,a,1,EUR\n', '', {}, staff)).status).toBe(202);
  });
});
