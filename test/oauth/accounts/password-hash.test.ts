import { argon2Sync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { deriveArgon2idKey, deriveArgon2idKeyInJavaScript } from '../../../server/oauth/passwords/argon2id/derive-argon2id-key.ts';
import { PasswordHashQueueFullError } from '../../../server/oauth/passwords/argon2id/password-hash-slots.ts';
import { hashPassword, verifyPassword } from '../../../server/oauth/passwords/hash-and-verify-password.ts';

test('a password matches its hash, and another password does not', async () => {
  const hash = await hashPassword('correct horse battery');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await verifyPassword('correct horse battery', hash)).toBe(true);
  expect(await verifyPassword('correct horse batterY', hash)).toBe(false);
  expect(await hashPassword('correct horse battery')).not.toBe(hash);
});

test('a hash in PHC format with other argon2id costs is verified', async () => {
  const nonce = Buffer.from('somesalt16bytes!');
  const tag = argon2Sync('argon2id', { message: 'pass', nonce, tagLength: 24, memory: 8192, passes: 3, parallelism: 2 });
  const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  expect(await verifyPassword('pass', `$argon2id$v=19$m=8192,t=3,p=2$${unpadded(nonce)}$${unpadded(tag)}`)).toBe(true);
});

test('the JavaScript implementation for Node.js 22 derives the same keys', async () => {
  const parameters = {
    message: 'Zoë’s password',
    nonce: Buffer.from('somesalt16bytes!'),
    memory: 1024,
    passes: 2,
    parallelism: 1,
    tagLength: 32,
  };
  expect(await deriveArgon2idKeyInJavaScript(parameters)).toEqual(await deriveArgon2idKey(parameters));
});

test('composed and decomposed Unicode characters match', async () => {
  const composed = 'Zoë’s café password'.normalize('NFC');
  expect(composed).not.toBe(composed.normalize('NFD'));
  expect(await verifyPassword(composed.normalize('NFD'), await hashPassword(composed))).toBe(true);
});

test('an account without a hash matches no password', async () => {
  expect(await verifyPassword('', undefined)).toBe(false);
  expect(await verifyPassword('anything', undefined)).toBe(false);
});

test('concurrent verifications are queued up to a limit and do not block file access', async () => {
  const started = performance.now();
  const attempts = Promise.allSettled(Array.from({ length: 80 }, () => verifyPassword('x', undefined)));
  await readFile(import.meta.filename);
  const readAfter = performance.now() - started;
  const outcomes = await attempts;
  const allAfter = performance.now() - started;
  const rejected = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(rejected).toHaveLength(80 - 66);
  for (const outcome of rejected) expect(outcome.reason).toBeInstanceOf(PasswordHashQueueFullError);
  expect(readAfter).toBeLessThan(allAfter / 4);
  expect(await verifyPassword('x', undefined)).toBe(false);
});
