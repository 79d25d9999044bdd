import { once } from 'node:events';
import { connect } from 'node:net';
import { scopeNames } from '@mandate/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { withShop } from '../support/shop/with-shop.ts';
import { obtainClientToken, createConfidentialClient } from '../support/oauth/oauth-flow.ts';

const shop = withShop({ sampleData: false });
let token: string;
beforeAll(async () => {
  token = await obtainClientToken(shop.origin, await createConfidentialClient(shop.db, scopeNames), scopeNames);
});

/** Sends text over a new connection and returns everything received on it. */
async function exchange(text: string): Promise<string> {
  const socket = connect(Number(new URL(shop.origin).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.write(text);
  await once(socket, 'close');
  return received;
}

describe('regressions found by fuzzing', () => {
  test('an unknown `Expect` header is ignored, although Node responds with 417 by default', async () => {
    const response = await exchange('GET /api/v1/products HTTP/1.1\r\nHost: localhost\r\nExpect: a miracle\r\nConnection: close\r\n\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test('a list without ETag ignores `If-None-Match: *`', async () => {
    const { status, body } = await shop.callApi('GET', '/api/v1/products', { headers: { 'if-none-match': '*' } });
    expect([status, body.data]).toEqual([200, []]);
  });

  test('the response to an oversized HEAD request has no body', async () => {
    const response = await exchange(`HEAD /api/v1/products?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(response).toMatch(/^HTTP\/1\.1 414 [^{]*\r\n\r\n$/);
  });

  test.each(['order-imports', 'product-imports'])(
    'a NUL in a column name of %s returns 400, because JSON in the database cannot contain it',
    async (kind) => {
      const column = kind === 'order-imports' ? 'note_column' : 'description_column';
      for (const name of ['%00', '%C2%85']) {
        const path = `/api/v1/${kind}?currency=EUR&${column}=${name}`;
        const { status, body } = await shop.callApi('POST', path, { token, body: 'sku\n', headers: { 'content-type': 'text/csv' } });
        expect([status, body.errors]).toEqual([
          400,
          expect.arrayContaining([expect.objectContaining({ parameter: column, code: 'invalid_value' })]),
        ]);
      }
    },
  );

  test.each([
    ['product-imports?currency=EUR&category=%00', 'sku\n', 'text/csv'],
    ['order-exports', '{"format":"csv","reference":"a\\u0000b"}', 'application/json'],
  ])('a NUL in the stored parameters of %s returns 400', async (path, body, type) => {
    const { status } = await shop.callApi('POST', `/api/v1/${path}`, { token, body, headers: { 'content-type': type } });
    expect(status).toBe(400);
  });

  test('a NUL in a metadata key returns 400', async () => {
    const product = { sku: 'NUL', name: 'Nul', category: 'x', price: 1, currency: 'EUR', metadata: { 'a\0b': 'x' } };
    expect((await shop.callApi('POST', '/api/v1/products', { token, body: product })).body).toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  });
});
