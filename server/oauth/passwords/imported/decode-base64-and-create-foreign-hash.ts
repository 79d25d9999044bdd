import type { ForeignPasswordHash, PasswordScheme } from './password-scheme-with-parameters.ts';

/** Sizes of salts and digests, in bytes. If a digest were shorter, other passwords could have the same digest. */
const sizes = { salt: { minimum: 1, maximum: 128 }, digest: { minimum: 16, maximum: 128 } } as const;

/**
 * Decodes base64 with or without padding, including passlib's variant with `.` instead of `+`. Returns undefined if the length of the
 * string is invalid.
 */
export function decodeHashBase64(text: string): Buffer | undefined {
  const unpadded = text.replace(/=+$/, '').replaceAll('.', '+');
  return unpadded.length % 4 === 1 ? undefined : Buffer.from(unpadded, 'base64');
}

/** Returns a hash with a hexadecimal digest, or undefined if the digest or the salt has the wrong size. */
export function foreignHashFromDigestAndSalt(
  digest: Buffer | undefined,
  salt: Buffer | undefined,
  createScheme: (digestLength: number, salt: string) => PasswordScheme,
): ForeignPasswordHash | undefined {
  if (!digest || digest.length < sizes.digest.minimum || digest.length > sizes.digest.maximum) return undefined;
  if (!salt || salt.length < sizes.salt.minimum || salt.length > sizes.salt.maximum) return undefined;
  return { scheme: createScheme(digest.length, salt.toString('base64')), digest: digest.toString('hex') };
}
