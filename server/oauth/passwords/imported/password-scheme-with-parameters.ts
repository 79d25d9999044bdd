import { z } from 'zod';

/** Bytes as base64 with padding. */
const bytes = z.string().max(1000);
const positive = z.number().int().positive();

/**
 * A password hashing scheme from another system, with all parameters and the salt, but without the digest. The objects are stored as JSON,
 * so fields can be added but not renamed.
 */
export const passwordSchemeWithParametersSchema = z.discriminatedUnion('scheme', [
  z.object({
    scheme: z.literal('argon2id'),
    memory: positive.describe('In KiB.'),
    passes: positive,
    parallelism: positive,
    salt: bytes,
    length: positive,
  }),
  z.object({
    scheme: z.literal('bcrypt'),
    cost: positive,
    /** Version, cost and salt, such as `$2b$12$` and 22 characters. */
    settings: z.string(),
    /**
     * Digest of the password that replaces the password as bcrypt's input: hexadecimal SHA-256 (Django) or base64 HMAC-SHA-384 (WordPress
     * 6.8).
     */
    prehash: z.enum(['none', 'django-sha256', 'wordpress-sha384']),
  }),
  z.object({
    scheme: z.literal('scrypt'),
    cost: positive,
    blockSize: positive,
    parallelization: positive,
    salt: bytes,
    length: positive,
  }),
  z.object({
    /** Format of the npm package scrypt-kdf, which Medusa uses. The digest is an HMAC of the header. */
    scheme: z.literal('scrypt-kdf'),
    cost: positive,
    blockSize: positive,
    parallelization: positive,
    salt: bytes,
    /** The first 64 bytes of the hash: the parameters, the salt and their checksum. */
    header: bytes,
  }),
  z.object({
    scheme: z.literal('firebase-scrypt'),
    cost: positive,
    blockSize: positive,
    parallelization: positive,
    salt: bytes,
    saltSeparator: bytes,
    signerKey: bytes,
  }),
  z.object({
    scheme: z.literal('pbkdf2'),
    hash: z.enum(['sha1', 'sha256', 'sha512']),
    iterations: positive,
    salt: bytes,
    length: positive,
  }),
  z.object({
    scheme: z.literal('sha'),
    hash: z.enum(['sha1', 'sha256']),
    salt: bytes,
    saltPosition: z.enum(['before', 'after']).describe('Position of the salt relative to the password.'),
  }),
  z.object({
    scheme: z.literal('phpass'),
    /** Base-2 logarithm of the number of MD5 iterations. */
    log2Iterations: positive,
    salt: z.string(),
  }),
]);
export type PasswordScheme = z.output<typeof passwordSchemeWithParametersSchema>;

/** A password hash from another system. The digest is the whole 60-character string for bcrypt, and hexadecimal for all other schemes. */
export type ForeignPasswordHash = { readonly scheme: PasswordScheme; readonly digest: string };
