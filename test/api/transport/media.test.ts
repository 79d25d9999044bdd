import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

/** Sends the body unchanged, byte for byte. */
async function post(body: string | Buffer, headers: Record<string, string> = {}): Promise<{ status: number; code: string; text: string }> {
  const response = await fetch(`${shop.origin}/api/v1/users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${shop.token}`, 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await response.text();
  expect(response.headers.get('content-type')).toMatch(/^application\/(problem\+)?json/);
  return { status: response.status, code: JSON.parse(text).code ?? '', text };
}

let userCount = 0;
const newUser = (): { name: string; email: string } => ({ name: 'Zoë', email: `zoe${(userCount += 1)}@example.com` });

describe('a request body', () => {
  test.each(['application/json; charset=utf-8', 'application/json; charset="UTF-8"', 'Application/JSON'])(
    'of type %s is accepted',
    async (type) => {
      const { status, text } = await post(JSON.stringify(newUser()), { 'content-type': type });
      expect([status, JSON.parse(text).name]).toEqual([201, 'Zoë']);
    },
  );

  test.each([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/merge-patch+json',
    'application/json; charset=utf-16',
    'application/json; charset=utf8',
    'application/json; charset=iso-8859-1',
    'nonsense',
  ])('of type %s is rejected with 415', async (type) => {
    expect(await post(JSON.stringify(newUser()), { 'content-type': type })).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });

  test('without a content type is rejected with 415', async () => {
    const response = await fetch(`${shop.origin}/api/v1/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shop.token}` },
      body: Buffer.from(JSON.stringify(newUser())),
    });
    expect(response.status).toBe(415);
  });

  test.each([
    ['invalid UTF-8', Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xe9, 0xff]), Buffer.from('"}')])],
    ['an overlong encoding', Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])],
    ['an incomplete object', '{"name":"Zo'],
    ['two objects', '{}{}'],
    ['a string', '"name"'],
    ['NaN', '{"name":NaN}'],
    ['a comment', '{/* */}'],
    ['33 levels', '{"name":'.repeat(33) + '1' + '}'.repeat(33)],
    ['50,000 levels', '['.repeat(49_999) + ']'.repeat(49_999)],
  ])('with %s is rejected with 400 malformed_json', async (_label, body) => {
    expect(await post(body)).toMatchObject({ status: 400, code: 'malformed_json' });
  });

  test('with 32 levels, or with brackets in strings, is parsed', async () => {
    const nested = await post('{"name":'.repeat(32) + '1' + '}'.repeat(32));
    expect(nested).toMatchObject({ status: 400, code: 'invalid_request' });
    expect((await post(JSON.stringify({ ...newUser(), name: `\\"${'{['.repeat(40)}` }))).status).toBe(201);
  });

  test.each(['[]', '[1]'])('that is not an object is rejected with 400: %s', async (body) => {
    expect((await post(body)).code).toBe('invalid_request');
  });

  test('over 100 kB is rejected with 413, even if it is compressed', async () => {
    const large = JSON.stringify({ ...newUser(), name: 'x'.repeat(100_001) });
    expect(await post(large)).toMatchObject({ status: 413, code: 'payload_too_large' });
    expect(await post(gzipSync(large), { 'content-encoding': 'gzip' })).toMatchObject({ status: 413 });
    expect(await post(gzipSync(Buffer.alloc(50_000_000, ' ')), { 'content-encoding': 'gzip' })).toMatchObject({ status: 413 });
  });

  test('of an order can have up to 1 MB', async () => {
    const product = await shop.createProduct();
    const order = buildOrderInput([product, 1]);
    const large = (size: number): Promise<ApiResponse> =>
      shop.callApi('POST', '/api/v1/orders', { token: shop.token, body: `${JSON.stringify(order)}${' '.repeat(size)}` });
    expect((await large(900_000)).body.code).not.toBe('payload_too_large');
    const refused = await large(1_000_001);
    expect([refused.body.code, refused.body.detail]).toEqual(['payload_too_large', expect.stringContaining('1000000 bytes')]);
  });

  test('is accepted in gzip, and rejected with 415 in an unknown encoding', async () => {
    expect((await post(gzipSync(JSON.stringify(newUser())), { 'content-encoding': 'gzip' })).status).toBe(201);
    expect(await post(JSON.stringify(newUser()), { 'content-encoding': 'compress' })).toMatchObject({ status: 415 });
    expect(await post('this is not gzip', { 'content-encoding': 'gzip' })).toMatchObject({ status: 400 });
  });

  test('of a PATCH can have two media types, which Accept-Patch lists', async () => {
    const { id } = JSON.parse((await post(JSON.stringify(newUser()))).text);
    const patch = (type: string): Promise<ApiResponse> =>
      shop.callApi('PATCH', `/api/v1/users/${id}`, { token: shop.token, body: { name: 'Zo' }, headers: { 'content-type': type } });
    expect((await patch('application/merge-patch+json')).status).toBe(200);
    expect((await patch('application/json')).status).toBe(200);
    const refused = await patch('application/json-patch+json');
    expect([refused.status, refused.headers.get('accept-patch')]).toEqual([415, 'application/merge-patch+json, application/json']);
  });

  test('of a DELETE is ignored', async () => {
    const response = await shop.callApi('DELETE', '/api/v1/users/999999', { token: shop.token, body: '{broken' });
    expect(response.status).toBe(404);
  });
});

describe('the query string', () => {
  const list = (query: string): Promise<ApiResponse> => shop.callApi('GET', `/api/v1/products?${query}`);

  test.each([
    ['limit=1&limit=2', 'limit', 'duplicate_parameter'],
    ['status=active&status=draft', 'status', 'duplicate_parameter'],
    ['category=a&category=a', 'category', 'duplicate_parameter'],
    ['limit[]=1', 'limit[]', 'unknown_parameter'],
    ['Limit=1', 'Limit', 'unknown_parameter'],
    ['__proto__=1', '__proto__', 'unknown_parameter'],
    ['constructor=1', 'constructor', 'unknown_parameter'],
  ])('%s is rejected with 400', async (query, parameter, code) => {
    const { status, body } = await list(query);
    expect([status, body.errors?.[0]]).toMatchObject([400, { in: 'query', parameter, code }]);
  });

  test('with an invalid escape sequence never returns 500', async () => {
    for (const query of ['category=%E0%A4%A', 'category=%FF', 'category=%00', '%FF=1'])
      expect((await list(query)).status).toBeLessThan(500);
  });

  test('of more than 8,000 characters is rejected with 414', async () => {
    const { status, body } = await list(`category=${'x'.repeat(8_000)}`);
    expect([status, body.code]).toEqual([414, 'uri_too_long']);
  });
});

describe('request headers', () => {
  test('over 16 kB are rejected with 431', async () => {
    const { status, body } = await shop.callApi('GET', '/api/v1/products', { headers: { 'x-large': 'x'.repeat(17_000) } });
    expect([status, body.code]).toEqual([431, 'headers_too_large']);
  });

  test.each([
    ['text/html', 406],
    ['application/xml;q=0.9, text/*', 406],
    ['application/json;q=0', 406],
    ['image/png', 406],
    ['*/*', 200],
    ['application/*', 200],
    ['application/json; charset=utf-8', 200],
    ['application/json;charset=UTF-8', 200],
    ['application/json; charset=utf-16', 406],
    ['text/html, application/json;q=0.1', 200],
  ])('Accept: %s returns %i', async (accept, status) => {
    const response = await shop.callApi('GET', '/api/v1/products', { headers: { accept } });
    expect([response.status, response.body.code]).toEqual([status, status === 406 ? 'not_acceptable' : undefined]);
  });
});
