import { once } from 'node:events';
import { connect } from 'node:net';
import { scopeNames } from '@mandate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startMandate, type Mandate } from '../support/server/start-mandate.ts';
import { clientCredentials, confidentialClient } from '../support/oauth/oauth-flow.ts';

let mandate: Mandate;
let token: string;
beforeAll(async () => {
  mandate = await startMandate();
  token = await clientCredentials(mandate.origin, await confidentialClient(mandate.db, scopeNames), scopeNames);
});
afterAll(() => mandate.close());

/** What comes back over a connection of its own, to the end. */
async function exchange(text: string): Promise<string> {
  const socket = connect(Number(new URL(mandate.origin).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.write(text);
  await once(socket, 'close');
  return received;
}

describe('what fuzzing has found', () => {
  test('an expectation that nobody knows is ignored, where Node would answer 417 without a word', async () => {
    const answer = await exchange('GET /api/v1/products HTTP/1.1\r\nHost: localhost\r\nExpect: a miracle\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test('a list has no ETag, and is there for who asks for what is not there', async () => {
    const { status, body } = await mandate.call('GET', '/api/v1/products', { headers: { 'if-none-match': '*' } });
    expect([status, body.data]).toEqual([200, []]);
  });

  test('the answer to a HEAD that is too large has no body', async () => {
    const answer = await exchange(`HEAD /api/v1/products?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 414 [^{]*\r\n\r\n$/);
  });

  test.each(['order-imports', 'product-imports'])(
    'a NUL in the name of a column of %s is 400: no JSON of the database takes one',
    async (kind) => {
      const column = kind === 'order-imports' ? 'note_column' : 'description_column';
      for (const name of ['%00', '%C2%85']) {
        const path = `/api/v1/${kind}?currency=EUR&${column}=${name}`;
        const { status, body } = await mandate.call('POST', path, { token, body: 'sku\n', headers: { 'content-type': 'text/csv' } });
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
  ])('the same in what %s keeps for later', async (path, body, type) => {
    const { status } = await mandate.call('POST', `/api/v1/${path}`, { token, body, headers: { 'content-type': type } });
    expect(status).toBe(400);
  });

  test('the same in the name of a metadata entry', async () => {
    const product = { sku: 'NUL', name: 'Nul', category: 'x', price: 1, currency: 'EUR', metadata: { 'a\0b': 'x' } };
    expect((await mandate.call('POST', '/api/v1/products', { token, body: product })).body).toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  });
});
