import { argon2Sync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { hashPassword, verifyPassword, PasswordHashQueueFullError } from '../../../server/oauth/passwords/password-hash.ts';

test('a password matches its own hash and no other', async () => {
  const hash = await hashPassword('correct horse battery');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await verifyPassword('correct horse battery', hash)).toBe(true);
  expect(await verifyPassword('correct horse batterY', hash)).toBe(false);
  expect(await hashPassword('correct horse battery')).not.toBe(hash);
});

test('the string is the standard one, with whatever cost it names', async () => {
  const nonce = Buffer.from('somesalt16bytes!');
  const tag = argon2Sync('argon2id', { message: 'pass', nonce, tagLength: 24, memory: 8192, passes: 3, parallelism: 2 });
  const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  expect(await verifyPassword('pass', `$argon2id$v=19$m=8192,t=3,p=2$${unpadded(nonce)}$${unpadded(tag)}`)).toBe(true);
});

test('the same characters match, however the keyboard composes them', async () => {
  const composed = 'Zoë’s café password'.normalize('NFC');
  expect(composed).not.toBe(composed.normalize('NFD'));
  expect(await verifyPassword(composed.normalize('NFD'), await hashPassword(composed))).toBe(true);
});

test('no hash never matches', async () => {
  expect(await verifyPassword('', undefined)).toBe(false);
  expect(await verifyPassword('anything', undefined)).toBe(false);
});

test('many at once wait their turn, too many are turned away, and files can be read meanwhile', async () => {
  const begin = performance.now();
  const attempts = Promise.allSettled(Array.from({ length: 80 }, () => verifyPassword('x', undefined)));
  await readFile(import.meta.filename);
  const readAfter = performance.now() - begin;
  const outcomes = await attempts;
  const allAfter = performance.now() - begin;
  const turnedAway = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(turnedAway).toHaveLength(80 - 66);
  for (const outcome of turnedAway) expect(outcome.reason).toBeInstanceOf(PasswordHashQueueFullError);
  expect(readAfter).toBeLessThan(allAfter / 4);
  expect(await verifyPassword('x', undefined)).toBe(false);
});
