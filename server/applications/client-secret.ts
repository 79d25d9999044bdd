import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits: nothing to guess, so a plain hash is enough to keep. */
export const newClientSecret = (): string => `ms_${randomBytes(32).toString('base64url')}`;

export const hashClientSecret = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

export function hashMatches(hash: string, secret: string): boolean {
  const [kept, presented] = [Buffer.from(hash), Buffer.from(hashClientSecret(secret))];
  return kept.length === presented.length && timingSafeEqual(kept, presented);
}
