import { expect } from 'vitest';
import { resetBeforeTestFile } from '../test-files/test-file-state.ts';

/** Malformed and malicious input values that a database could interpret or reject. */
export const hostileDatabaseInputs = ['a\0b', 'x'.repeat(5000), '漢字 🎈 \u202e', "' or 1=1 --"];

/** Malformed and malicious input values. */
export const hostileInputs = [
  ...hostileDatabaseInputs,
  '\0',
  '<img src=x onerror=alert(1)>',
  '%',
  '%00',
  '${7*7}',
  '\r\nSet-Cookie: x=1',
  '',
];

/** Parameters of the authorization endpoint and of the pushed authorization request endpoint. */
export const hostileParameters = ['client_id', 'redirect_uri', 'response_type', 'scope', 'state', 'nonce', 'prompt', 'max_age'];

let checkedResponses = 0;
resetBeforeTestFile(() => (checkedResponses = 0));

/** Returns the number of responses that the tests in the current file have checked so far. */
export const countCheckedResponses = (): number => checkedResponses;

/** Expects that the response is not a server error and contains neither reflected markup nor internal details. */
export async function expectHarmlessResponse(label: string, response: Response): Promise<void> {
  checkedResponses += 1;
  const text = await response.text();
  expect(response.status, label).toBeLessThan(500);
  // JSON may contain the markup, but HTML must not
  if (!/json/.test(response.headers.get('content-type') ?? '')) expect(text, label).not.toContain('<img src=x');
  expect(text, label).not.toMatch(/node_modules|\bat .*\.ts:\d+|select .* from/);
  expect(response.headers.get('set-cookie') ?? '', label).not.toMatch(/(^|, )x=1/);
}
