import { randomBytes } from 'node:crypto';
import { sha256 } from '../crypto/sha256.ts';

/** Generates a key with 256 random bits and a prefix that users and secret scanners recognize. */
export const generateApiKey = (): string => `mk_${randomBytes(32).toString('base64url')}`;

/** Returns whether a token has the format of an API key. */
export const hasApiKeyFormat = (token: string): boolean => /^mk_[A-Za-z0-9_-]{43}$/.test(token);

/** Returns the first characters of a key, which help users recognize it. */
export const getDisplayPrefixOfApiKey = (key: string): string => key.slice(0, 'mk_'.length + 8);

/** Returns a key's SHA-256 hash. The key is random, so a slow password hash is not needed. */
export const hashApiKey = (key: string): string => sha256(key, 'base64url');
