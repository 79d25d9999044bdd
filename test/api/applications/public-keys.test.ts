import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { parsePublicJwk, SecretKeyMaterialError, UnusableJwkError } from '../../../server/applications/parse-public-jwk.ts';

const toJwk = ({ publicKey }: { readonly publicKey: KeyObject }) => publicKey.export({ format: 'jwk' });
const ec = toJwk(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const okp = toJwk(generateKeyPairSync('ed25519'));
const rsa = toJwk(generateKeyPairSync('rsa', { modulusLength: 2048 }));

/**
 * Returns an RSA public key whose modulus has the given number of bits. The modulus is not a product of two primes, but the public key does
 * not reveal this.
 */
const rsaWith = (bits: number, exponent = 'AQAB') => {
  const modulus = Buffer.alloc(bits / 8, 0xff);
  return { kty: 'RSA', n: modulus.toString('base64url'), e: exponent };
};
const exponentOf = (value: number): string => Buffer.from(value.toString(16).padStart(6, '0'), 'hex').toString('base64url');

test.each([ec, okp, rsa])('a public key is accepted with its members only: $kty', (jwk) => {
  expect(parsePublicJwk({ ...jwk, key_ops: ['verify'], x5c: [] })).toStrictEqual(jwk);
});

test.each<[object, object]>([
  [ec, { kid: 'key-1', alg: 'ES256', use: 'sig' }],
  [okp, { alg: 'EdDSA' }],
  [okp, { alg: 'Ed25519' }],
  [rsa, { alg: 'PS256' }],
  [rsa, { alg: 'RS256' }],
  [ec, { kid: `!~${'x'.repeat(198)}` }],
])('the members of a key that state its use are kept: %j %j', (jwk, members) => {
  expect(parsePublicJwk({ ...jwk, ...members })).toStrictEqual({ ...jwk, ...members });
});

test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'])('a key with the secret member %s is rejected', (name) => {
  const parse = (): unknown => parsePublicJwk({ ...ec, [name]: 'x' });
  expect(parse).toThrow(SecretKeyMaterialError);
  expect(parse).toThrow(`contains private key members (${name}): replace the key pair, and publish only the public key`);
});

test.each<[unknown, string]>([
  [null, 'is not a JSON Web Key: its kty member is missing or not valid'],
  ['x', 'is not a JSON Web Key: its kty member is missing or not valid'],
  [{}, 'is not a JSON Web Key: its kty member is missing or not valid'],
  [{ ...ec, kid: '' }, 'is not a JSON Web Key: its kid member is missing or not valid'],
  [{ ...ec, kid: 'x'.repeat(201) }, 'is not a JSON Web Key: its kid member is missing or not valid'],
  [{ ...ec, kid: 'a b' }, 'is not a JSON Web Key: its kid member is missing or not valid'],
  [{ ...ec, kid: ' a' }, 'is not a JSON Web Key: its kid member is missing or not valid'],
  [{ ...ec, kid: 'a ' }, 'is not a JSON Web Key: its kid member is missing or not valid'],
  [{ ...ec, alg: 7 }, 'is not a JSON Web Key: its alg member is missing or not valid'],
  [{ ...ec, kty: 'oct' }, 'has an unsupported type: the supported types are EC, OKP and RSA'],
  [{ ...ec, kty: 'toString' }, 'has an unsupported type: the supported types are EC, OKP and RSA'],
  [{ ...ec, use: 'enc' }, 'is not a signing key: its use member must be sig'],
  [{ ...ec, alg: 'ES384' }, 'has an unsupported algorithm: the alg member of a key of type EC must be ES256'],
  [{ ...rsa, alg: 'ES256' }, 'has an unsupported algorithm: the alg member of a key of type RSA must be PS256 or RS256'],
  [{ ...ec, x: undefined }, 'does not contain a valid public key'],
  [{ ...ec, x: ec.y, y: ec.y }, 'does not contain a valid public key'],
  [toJwk(generateKeyPairSync('ec', { namedCurve: 'P-384' })), 'has an unsupported curve: an EC key must use P-256'],
  [toJwk(generateKeyPairSync('x25519')), 'has an unsupported curve: an OKP key must use Ed25519'],
  [rsaWith(2040), 'is too weak: an RSA key must have at least 2048 bits'],
  [rsaWith(8200), 'is too large: an RSA key must have at most 8192 bits'],
  [rsaWith(2048, exponentOf(65_535)), 'is too weak: the exponent of an RSA key must be odd and at least 65537'],
  [rsaWith(2048, exponentOf(65_538)), 'is too weak: the exponent of an RSA key must be odd and at least 65537'],
])('the unusable key %j is rejected', (jwk, reason) => {
  const parse = (): unknown => parsePublicJwk(jwk);
  expect(parse).toThrow(UnusableJwkError);
  expect(parse).not.toThrow(SecretKeyMaterialError);
  expect(parse).toThrow(reason);
});

test('RSA keys from 2048 to 8192 bits with a larger odd exponent are accepted', () => {
  for (const jwk of [rsaWith(2048), rsaWith(8192), rsaWith(2048, exponentOf(65_539))]) expect(parsePublicJwk(jwk)).toStrictEqual(jwk);
});
