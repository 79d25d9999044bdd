import { timingSafeEqual } from 'node:crypto';
import { createArgon2idHash, matchesArgon2idHash } from '../argon2id/argon2id-hash.ts';
import { runHashingWhenIdleOrOverdue, withHashSlot } from '../argon2id/password-hash-slots.ts';
import { deriveForeignDigest } from './derive-foreign-digest.ts';
import { parseForeignPasswordHash } from './parse-foreign-password-hash.ts';
import { type ImportedPasswordHash, wrappedPasswordHashSchema } from './parse-imported-password-hash.ts';
import { isWeakPasswordScheme } from './password-scheme-limits.ts';

/**
 * Prefixes of stored hashes. `original` precedes the original text; `wrapped` precedes JSON with the scheme and the argon2id hash of the
 * original digest.
 */
const prefixes = { original: 'imported:', wrapped: 'wrapped:' } as const;

/** Returns whether a stored hash was imported and has not yet been replaced during a sign-in. */
export const isImportedPasswordHash = (stored: string): boolean => Object.values(prefixes).some((prefix) => stored.startsWith(prefix));

/**
 * Returns an imported hash in its stored form. A weak hash is wrapped in argon2id, which takes as long as hashing a password at sign-up.
 */
export async function toStoredImportedPasswordHash(text: string, hash: ImportedPasswordHash): Promise<string> {
  if ('argon2id' in hash) return `${prefixes.wrapped}${JSON.stringify(hash)}`;
  if (!isWeakPasswordScheme(hash.scheme)) return `${prefixes.original}${text}`;
  const argon2id = await createArgon2idHash(hash.digest, runHashingWhenIdleOrOverdue);
  return `${prefixes.wrapped}${JSON.stringify({ scheme: hash.scheme, argon2id })}`;
}

/** Returns a stored hash in the export format, which imports accept. */
export const toExportedPasswordHash = (stored: string): string => {
  const prefix = Object.values(prefixes).find((each) => stored.startsWith(each)) ?? '';
  return stored.slice(prefix.length);
};

/**
 * Verifies a password against a stored imported hash in constant time. The password is not normalized, because other systems do not
 * normalize passwords.
 */
export async function matchesImportedPasswordHash(password: string, stored: string): Promise<boolean> {
  const text = toExportedPasswordHash(stored);
  if (stored.startsWith(prefixes.wrapped)) {
    const { scheme, argon2id } = wrappedPasswordHashSchema.parse(JSON.parse(text));
    const digest = await withHashSlot(() => deriveForeignDigest(password, scheme));
    return matchesArgon2idHash(digest, argon2id, withHashSlot);
  }
  const hash = parseForeignPasswordHash(text);
  if (!hash) throw new Error('a stored imported password hash cannot be parsed');
  const actual = Buffer.from(await withHashSlot(() => deriveForeignDigest(password, hash.scheme)));
  const expected = Buffer.from(hash.digest);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
