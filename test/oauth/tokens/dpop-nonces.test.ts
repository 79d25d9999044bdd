import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { DpopNonces, maxDpopNonceAgeSeconds } from '../../../server/oauth/tokens/dpop-nonces.ts';

const key = randomBytes(32);
const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);

test('all processes with the same key accept a nonce for four to five minutes', () => {
  expect(maxDpopNonceAgeSeconds).toBe(300);
  const nonce = new DpopNonces(key).current(at(30));
  const other = new DpopNonces(key);
  expect([-30, 0, 30, 240, 299.999].map((seconds) => other.accepts(nonce, at(seconds)))).toEqual([false, true, true, true, true]);
  expect([300, 360, 86_400].map((seconds) => other.accepts(nonce, at(seconds)))).toEqual([false, false, false]);
});

test.each(['', 'x', 'A'.repeat(43), 'A'.repeat(44), '=', 'ä'])('rejects %j', (nonce) => {
  expect(new DpopNonces(key).accepts(nonce, at(0))).toBe(false);
});

test('rejects the nonce of another key', () => {
  expect(new DpopNonces(randomBytes(32)).accepts(new DpopNonces(key).current(at(0)), at(0))).toBe(false);
});
