import { expect } from 'vitest';

/** What nobody should send. */
export const hostile = [
  'a\0b',
  '\0',
  'x'.repeat(5000),
  '漢字 🎈 \u202e',
  '<img src=x onerror=alert(1)>',
  "' or 1=1 --",
  '%',
  '%00',
  '${7*7}',
  '\r\nSet-Cookie: x=1',
  '',
];

let sent = 0;
/** How many answers were looked at so far, by the tests of one file. */
export const hostileRequests = (): number => sent;

/** No failure of ours, nothing repeated as markup, nothing of the inside. */
export async function expectHarmless(what: string, response: Response): Promise<void> {
  sent += 1;
  const text = await response.text();
  expect(response.status, what).toBeLessThan(500);
  // as data it may come back, never as a page
  if (!/json/.test(response.headers.get('content-type') ?? '')) expect(text, what).not.toContain('<img src=x');
  expect(text, what).not.toMatch(/node_modules|\bat .*\.ts:\d+|select .* from/);
  expect(response.headers.get('set-cookie') ?? '', what).not.toMatch(/(^|, )x=1/);
}
