import type { JWK } from 'jose';
import { z } from 'zod';
import { decryptText, encryptText } from '../../crypto/authenticated-encryption.ts';

/** Encrypts a private JWK. The `kid` is authenticated, so that the encrypted keys of two rows cannot be swapped. */
export const encryptJwk = (jwk: JWK, key: Buffer, kid: string): string => encryptText(JSON.stringify(jwk), key, kid);

/** Thrown if the data in the database was encrypted with a different secret than this process uses. */
export class WrongEncryptionSecretError extends Error {
  override readonly name = 'WrongEncryptionSecretError';
}

const storedJwk = z.custom<JWK>((value) => typeof value === 'object' && value !== null && 'kty' in value);

/** @throws WrongEncryptionSecretError */
export function decryptJwk(encrypted: string, key: Buffer, kid: string): JWK {
  const text = decryptText(encrypted, key, kid);
  if (text !== undefined) return storedJwk.parse(JSON.parse(text));
  throw new WrongEncryptionSecretError(
    'the signing keys in the database are encrypted with another secret: start the server with the original secret',
  );
}

export function toPublicJwk(jwk: JWK): JWK {
  const { kty, kid, alg, use, crv, x, y, n, e } = jwk;
  return Object.fromEntries(Object.entries({ kty, kid, alg, use, crv, x, y, n, e }).filter(([, value]) => value !== undefined));
}
