import { expect, test } from 'vitest';
import { buildInProcessRequest } from '../../../server/mcp/build-in-process-request.ts';

test('a tool call without a body and without parameters is a plain request', () => {
  expect(
    buildInProcessRequest({
      method: 'GET',
      path: '/api/v1/orders',
      query: {},
      body: undefined,
      idempotencyKey: undefined,
      ifMatch: undefined,
    }),
  ).toStrictEqual({
    method: 'GET',
    path: '/api/v1/orders',
    headers: { accept: 'application/json, application/problem+json' },
  });
});

test('a tool call with parameters, a body and conditions becomes a request with each of them', () => {
  const call = { path: '/api/v1/orders/1', query: { a: 'b c', d: '1' }, body: { note: 'x' }, idempotencyKey: 'key', ifMatch: '"order-1"' };
  expect(buildInProcessRequest({ method: 'PATCH', ...call })).toStrictEqual({
    method: 'PATCH',
    path: '/api/v1/orders/1?a=b+c&d=1',
    headers: {
      accept: 'application/json, application/problem+json',
      'content-type': 'application/json',
      'idempotency-key': 'key',
      'if-match': '"order-1"',
    },
    body: '{"note":"x"}',
  });
});
