import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits behind letters that say what it is, to people and to programs that look for lost secrets. */
export const newKey = (): string => `mk_${randomBytes(32).toString('base64url')}`;

export const isKey = (token: string): boolean => /^mk_[A-Za-z0-9_-]{43}$/.test(token);

/** Enough to recognize it by. */
export const prefixOf = (key: string): string => key.slice(0, 'mk_'.length + 8);

/** There is nothing to guess, so a plain hash is enough to keep. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('base64url');
