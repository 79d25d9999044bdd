import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { JWK } from 'jose';
import { z } from 'zod';

/** Encrypts a private JWK with AES-256-GCM. The `kid` is authenticated, so that rows cannot be swapped. */
export function encryptJwk(jwk: JWK, key: Buffer, kid: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(kid));
  const encrypted = Buffer.concat([cipher.update(JSON.stringify(jwk)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url');
}

/** Thrown if the data in the database was encrypted with another secret than this process uses. */
export class WrongEncryptionSecretError extends Error {
  override readonly name = 'WrongSecretError';
}

const storedJwk = z.custom<JWK>((value) => typeof value === 'object' && value !== null && 'kty' in value);

/** @throws WrongEncryptionSecretError */
export function decryptJwk(encrypted: string, key: Buffer, kid: string): JWK {
  const bytes = Buffer.from(encrypted, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(kid));
  decipher.setAuthTag(bytes.subarray(12, 28));
  try {
    return storedJwk.parse(JSON.parse(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString()));
  } catch (cause) {
    throw new WrongEncryptionSecretError(
      'the signing keys in the database are encrypted with another secret: start the server with the original secret',
      {
        cause,
      },
    );
  }
}

export function toPublicJwk(jwk: JWK): JWK {
  const { kty, kid, alg, use, crv, x, y, n, e } = jwk;
  return Object.fromEntries(Object.entries({ kty, kid, alg, use, crv, x, y, n, e }).filter(([, value]) => value !== undefined));
}
