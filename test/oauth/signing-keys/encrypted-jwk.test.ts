import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { encryptText } from '../../../server/crypto/authenticated-encryption.ts';
import { decryptJwk, encryptJwk, toPublicJwk, WrongEncryptionSecretError } from '../../../server/oauth/signing-keys/encrypted-jwk.ts';

const [key, kid] = [randomBytes(32), 'key-1'];
const privateJwk = { kty: 'EC', kid, alg: 'ES256', use: 'sig', crv: 'P-256', x: 'x', y: 'y', d: 'private' };

test('an encrypted key is decrypted only with the same secret and for the same kid', () => {
  const encrypted = encryptJwk(privateJwk, key, kid);
  expect(encrypted).not.toContain('private');
  expect(decryptJwk(encrypted, key, kid)).toEqual(privateJwk);
  expect(() => decryptJwk(encrypted, randomBytes(32), kid)).toThrow(WrongEncryptionSecretError);
  expect(() => decryptJwk(encrypted, key, 'key-2')).toThrow(WrongEncryptionSecretError);
});

test.each(['null', '"kty"', '7', '{}', '["kty"]'])('encrypted JSON that is not a JWK is rejected: %s', (text) => {
  expect(() => decryptJwk(encryptText(text, key, kid), key, kid)).toThrow(/Invalid input/);
});

test('the public key contains no private value and no undefined member', () => {
  expect(Object.entries(toPublicJwk(privateJwk))).toEqual(Object.entries(privateJwk).filter(([name]) => name !== 'd'));
  const rsa = { kty: 'RSA', n: 'n', e: 'AQAB', d: 'private', p: 'private', q: 'private', dp: 'private', dq: 'private', qi: 'private' };
  expect(Object.entries(toPublicJwk(rsa))).toEqual(Object.entries({ kty: 'RSA', n: 'n', e: 'AQAB' }));
});
