import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { JWK } from 'jose';
import { z } from 'zod';

/** AES-256-GCM; the `kid` is bound to it, so that no row can take the place of another. */
export function sealJwk(jwk: JWK, key: Buffer, kid: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(kid));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(jwk)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** What is sealed in the database was sealed with another secret than the one this process has. */
export class WrongSecretError extends Error {
  override readonly name = 'WrongSecretError';
}

const storedJwk = z.custom<JWK>((value) => typeof value === 'object' && value !== null && 'kty' in value);

export function openJwk(sealed: string, key: Buffer, kid: string): JWK {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(kid));
  decipher.setAuthTag(bytes.subarray(12, 28));
  try {
    return storedJwk.parse(JSON.parse(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString()));
  } catch (cause) {
    throw new WrongSecretError('the signing keys in the database belong to another secret: start with the secret they were made with', {
      cause,
    });
  }
}

export function publicPart(jwk: JWK): JWK {
  const { kty, kid, alg, use, crv, x, y, n, e } = jwk;
  return Object.fromEntries(Object.entries({ kty, kid, alg, use, crv, x, y, n, e }).filter(([, value]) => value !== undefined));
}
