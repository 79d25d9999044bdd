/** Tests the check that validates every response in the tests against the contract. */
import { describe, expect, test } from 'vitest';
import { assertContractResponse } from '../support/contract/assert-contract-response.ts';

const requestId = 'req_01M7WX9F4NF5J66GDS6ZPH155B';
const problem = (status: number, code: string): [number, string, object] => [
  status,
  'application/problem+json',
  { type: `https://x.example/problems/${code}`, title: 'x', status, code, detail: 'x', instance: 'x', request_id: requestId },
];

function check(path: string, status: number, contentType: string, body: unknown): void {
  const headers = new Headers({ 'content-type': contentType, 'x-request-id': requestId });
  assertContractResponse('GET', path, { status, headers }, JSON.stringify(body));
}

describe('a response is rejected', () => {
  const json = 'application/json; charset=utf-8';
  const version = { version: 'v1', status: 'current', deprecated_at: null, sunset_at: null };

  test.each([
    ['with an undeclared status', '/api', 202, json, { data: [] }],
    ['with an undeclared error', '/api', ...problem(404, 'not_found')],
    ['with a problem code of another status', '/api', ...problem(400, 'not_found')],
    ['with an undeclared field', '/api', 200, json, { data: [{ ...version, secret: 1 }] }],
    ['without a declared field', '/api', 200, json, { data: [{ version: 'v1' }] }],
    ['with another media type', '/api', 200, 'text/html', { data: [version] }],
    ['of a path that is not in the contract', '/api/v1/nothing', 200, json, {}],
  ])('%s', (_, path, status, contentType, body) => {
    expect(() => check(path, status, contentType, body)).toThrow(/./);
  });

  test('and accepted if it matches the contract', () => {
    expect(() => check('/api', 200, json, { data: [version], has_more: false, next_cursor: null })).not.toThrow();
    expect(() => check('/api', ...problem(406, 'not_acceptable'))).not.toThrow();
  });
});
