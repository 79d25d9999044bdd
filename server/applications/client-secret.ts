import { randomBytes, timingSafeEqual } from 'node:crypto';
import { sha256 } from '../crypto/sha256.ts';

/** Generates a secret with 256 random bits. The secret is random, so a slow password hash is not needed. */
export const generateClientSecret = (): string => `ms_${randomBytes(32).toString('base64url')}`;

/** Returns a secret's SHA-256 hash. */
export const hashClientSecret = (secret: string): string => sha256(secret, 'base64url');

/** Compares a secret with a stored hash in constant time. */
export function clientSecretMatchesHash(hash: string, secret: string): boolean {
  const [stored, presented] = [Buffer.from(hash), Buffer.from(hashClientSecret(secret))];
  return stored.length === presented.length && timingSafeEqual(stored, presented);
}
