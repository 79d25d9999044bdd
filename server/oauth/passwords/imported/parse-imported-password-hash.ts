import { z } from 'zod';
import { parseForeignPasswordHash } from './parse-foreign-password-hash.ts';
import { passwordSchemeWithParametersSchema, type ForeignPasswordHash } from './password-scheme-with-parameters.ts';
import { findExcessiveCostReason, findInvalidSchemeParameterReason } from './password-scheme-limits.ts';

/** A hash whose digest was additionally hashed with argon2id, either during an earlier import or by the system that the hash comes from. */
export const wrappedPasswordHashSchema = z.object({ scheme: passwordSchemeWithParametersSchema, argon2id: z.string() }).strict();
type WrappedPasswordHash = z.output<typeof wrappedPasswordHashSchema>;

export type ImportedPasswordHash = ForeignPasswordHash | WrappedPasswordHash;

/** The formats that an import accepts, for error messages. */
const formatNames =
  'argon2id, bcrypt, scrypt, PBKDF2-SHA256/512, salted SHA-1 and SHA-256, phpass, Django, Magento, Medusa, WordPress, Firebase scrypt';

/**
 * Maximum length of a hash, in characters. This limit ensures that the base64-encoded salt never exceeds the maximum length in
 * `passwordSchemeWithParametersSchema`.
 */
const maxLength = { original: 500, wrapped: 2000 } as const;

/** Parses a password hash from an imported file, and rejects unknown formats, invalid parameters and excessive costs. */
export function parseImportedPasswordHash(text: string): { hash: ImportedPasswordHash } | { error: string } {
  const hash = parseWrappedHash(text) ?? (text.length > maxLength.original ? undefined : parseOriginalHash(text));
  if (!hash) return { error: `The format of the password hash is unknown. The supported formats are ${formatNames}.` };
  const outer = 'argon2id' in hash ? parseForeignPasswordHash(hash.argon2id) : undefined;
  if ('argon2id' in hash && outer?.scheme.scheme !== 'argon2id') return { error: 'The password hash is not a valid argon2id hash.' };
  for (const { scheme } of outer ? [hash, outer] : [hash]) {
    const invalid = findInvalidSchemeParameterReason(scheme);
    if (invalid !== undefined) return { error: `The password hash is invalid. ${invalid}` };
    const excessive = findExcessiveCostReason(scheme);
    if (excessive !== undefined) return { error: `The password hash is too expensive to verify. ${excessive}` };
  }
  return { hash };
}

const parseOriginalHash = (text: string): ImportedPasswordHash | undefined =>
  parseMagentoUpgradedHash(text) ?? parseForeignPasswordHash(text);

/** Parses a wrapped hash from an export of this server. */
function parseWrappedHash(text: string): WrappedPasswordHash | undefined {
  if (!text.startsWith('{"') || text.length > maxLength.wrapped) return undefined;
  try {
    return wrappedPasswordHashSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Parses a hash that Magento has upgraded from SHA-256 to argon2id: `hash:salt:1:2` or `hash:salt:1:3_32_2_67108864`. */
function parseMagentoUpgradedHash(text: string): WrappedPasswordHash | undefined {
  const [, digest = '', salt = '', version = ''] = /^([0-9a-f]{32,256}):([^:]+):1:(2|3_\d{1,3}_\d{1,4}_\d{1,12})$/.exec(text) ?? [];
  const outer = version === '' ? undefined : parseForeignPasswordHash(`${digest}:${salt}:${version}`);
  if (outer?.scheme.scheme !== 'argon2id') return undefined;
  const { memory, passes, parallelism, salt: nonce } = outer.scheme;
  const tag = Buffer.from(outer.digest, 'hex').toString('base64');
  return {
    scheme: { scheme: 'sha', hash: 'sha256', salt: Buffer.from(salt).toString('base64'), saltPosition: 'before' },
    argon2id: `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${nonce.replace(/=+$/, '')}$${tag.replace(/=+$/, '')}`,
  };
}
