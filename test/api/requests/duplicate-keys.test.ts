/** Tests duplicate keys in JSON body objects, for every operation that accepts JSON. */
import { getRouteMetadata, listRoutes, contract, contractV2, scopeNames } from '@mandate/contract';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findDuplicateKey, findDuplicateKeyInText } from '../../../server/http/validation/json-complexity-and-duplicate-keys.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { completeTask } from '../../support/shop/run-tasks.ts';

const shop = withShop({ previewVersions: true });
const admin = shop.admin(scopeNames);

const operations = listRoutes({ ...contract, v2: contractV2 }).filter(
  (route) => 'body' in route && !getRouteMetadata(route).consumes && !getRouteMetadata(route).internal,
);

test.each(operations.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s rejects a duplicate key',
  async (_name, route) => {
    const response = await fetch(shop.origin + route.path.replaceAll(/:\w+/g, '1'), {
      method: route.method,
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
      body: '{"a":1,"b":{"c":[{"d":1},{"d":1,"e":2,"\\u0064":3}]}}',
    });
    const body: JsonBody = await response.json();
    expect([response.status, body.code, body.errors], JSON.stringify(body)).toEqual([
      400,
      'invalid_request',
      [{ in: 'body', pointer: '#/b/c/1/d', code: 'duplicate_field', detail: expect.any(String) }],
    ]);
  },
);

test('a body with a duplicate key has no effect', async () => {
  const body = '{"name":"Ann","email":"first.of.two@example.com","name":"Ben"}';
  const response = await fetch(`${shop.origin}/api/v1/users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    body,
  });
  expect(await response.json()).toMatchObject({ status: 400, errors: [{ pointer: '#/name' }] });
  expect((await shop.callApi('GET', '/api/v1/users?email=first.of.two@example.com', { token: admin.token })).body.data).toEqual([]);
});

test('an NDJSON import rejects rows with a duplicate key', async () => {
  const rows = [
    '{"sku":"DUP-1","name":"Tea","category":"food","price":5,"price":500}',
    '{"sku":"DUP-2","name":"Tea","category":"food","price":5,"more":{"x":[{"y":1,"y":2}]}}',
    `{"sku":"DUP-3","name":"Tea","category":"food","price":5,"more":${'['.repeat(40_000)}${']'.repeat(40_000)}}`,
    '{"sku":"DUP-4","name":"Tea","category":"food","price":5}',
  ];
  const response = await fetch(`${shop.origin}/api/v1/product-imports?currency=GBP`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/x-ndjson' },
    body: rows.join('\n'),
  });
  const text = await response.text();
  const started: ApiResponse = { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  const { task, file } = await completeTask(shop, admin.token, started);
  expect(task.result.imported).toMatchObject({ created: 2, refused: 2 });
  expect(
    file
      .trimEnd()
      .split('\n')
      .map((line): JsonBody => JSON.parse(line)),
  ).toMatchObject([
    { line: 1, code: 'unreadable', detail: expect.stringContaining('#/price') },
    { line: 2, code: 'unreadable', detail: expect.stringContaining('#/more/x/0/y') },
  ]);
});

test('the MCP endpoint rejects a duplicate key', async () => {
  const { body: key } = await shop.callApi('POST', '/api/v1/api-keys', {
    token: admin.token,
    body: { name: 'Tools', scopes: ['orders.read'] },
  });
  const response = await fetch(`${shop.origin}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"orders_list","arguments":{"limit":1,"limit":2}}}',
  });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { code: -32_700, message: expect.stringContaining('#/params/arguments/limit') } },
  ]);
});

test('client registration rejects a duplicate key', async () => {
  const { body } = await shop.callApi('POST', '/api/v1/registration-tokens', { token: admin.token, body: {} });
  const response = await fetch(`${shop.origin}/oauth/registration`, {
    method: 'POST',
    headers: { authorization: `Bearer ${body.initial_access_token}`, 'content-type': 'application/json' },
    body: '{"client_name":"A","redirect_uris":["https://a.example/"],"token_endpoint_auth_method":"none","redirect_uris":["https://b.example/"]}',
  });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: 'invalid_client_metadata', error_description: expect.stringContaining('#/redirect_uris') },
  ]);
});

describe('the search for duplicate keys', () => {
  test.each([
    ['{"a":1,"a":1}', '#/a'],
    ['{"a":1,"\\u0061":2}', '#/a'],
    ['[{"a":1},{"b":{"c":1,"c":2}}]', '#/1/b/c'],
    ['{"a/b":1,"x~y":{"":1,"":2}}', '#/x~0y/'],
    ['{"a\\"b":1,"a\\"b":2}', '#/a%22b'],
    ['{"é":1,"\\u00e9":2}', '#/%C3%A9'],
    ['{"\\ud800":1,"\\ud800":2}', '#/%EF%BF%BD'],
    ['{"a":"\\\\","a":2}', '#/a'],
    ['{"__proto__":1,"__proto__":2}', '#/__proto__'],
    ['{"constructor":1,"constructor":2}', '#/constructor'],
    [`${'['.repeat(200)}{"a":1,"a":2}${']'.repeat(200)}`, `#${'/0'.repeat(200)}/a`],
    ['{"a":"{\\"b\\":1,\\"b\\":2}"}', undefined],
    ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', undefined],
    ['{"__proto__":{"a":1},"constructor":1,"2":1,"1":1}', undefined],
    ['{"a":1,"a":', undefined],
    ['"a:b,{}"', undefined],
    ['', undefined],
  ])('%s: %s', (text, pointer) => expect(findDuplicateKeyInText(Buffer.from(text))).toBe(pointer));

  test('finds none in the output of JSON.stringify, and finds every added duplicate', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.string(), (text, key) => {
        expect(findDuplicateKey(Buffer.from(text), JSON.parse(text))).toBeUndefined();
        const name = JSON.stringify(key);
        const twice = `{${name}:${text},"other ${name.slice(1)}:[1,{"x":{}}],${name}:${text}}`;
        expect(findDuplicateKeyInText(Buffer.from(twice))).toBe(`#/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`);
      }),
      { numRuns: 2_000 },
    );
  });
});
