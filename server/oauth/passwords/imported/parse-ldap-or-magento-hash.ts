import { decodeHashBase64, foreignHashFromDigestAndSalt } from './decode-base64-and-create-foreign-hash.ts';
import type { ForeignPasswordHash } from './password-scheme-with-parameters.ts';

/** Parses the formats of LDAP (`{SSHA}` and base64) and of Magento (`hash:salt:version`). */
export const parseLdapOrMagentoHash = (stored: string): ForeignPasswordHash | undefined =>
  parseLdapHash(stored) ?? parseMagentoHash(stored);

const digestBytes = { sha1: 20, sha256: 32 } as const;

function parseLdapHash(stored: string): ForeignPasswordHash | undefined {
  const [, name, encoded = ''] = /^\{(SSHA|SSHA256)\}([A-Za-z0-9+/]+={0,2})$/.exec(stored) ?? [];
  if (name === undefined) return undefined;
  const hash = name === 'SSHA' ? 'sha1' : 'sha256';
  const bytes = decodeHashBase64(encoded);
  const length = digestBytes[hash];
  return foreignHashFromDigestAndSalt(bytes?.subarray(0, length), bytes?.subarray(length), (size, salt) =>
    // If the digest were too short, no bytes would remain for the salt, and this function would not be called.
    ({ scheme: 'sha', hash, salt, saltPosition: size === length ? 'after' : 'before' }),
  );
}

/** libsodium uses only the first bytes of the salt that Magento stores. */
const sodiumSaltBytes = 16;

/**
 * Parses Magento's hashes. Version 1 is SHA-256. Version 2 is argon2id with libsodium's moderate limits. Version 3 is argon2id, and the
 * version contains its parameters: `3_32_2_67108864` means 32 bytes, 2 passes and 64 MiB.
 */
function parseMagentoHash(stored: string): ForeignPasswordHash | undefined {
  const [, digest = '', salt = '', version = ''] = /^([0-9a-f]{32,256}):([^:]+):(1|2|3_\d{1,3}_\d{1,4}_\d{1,12})$/.exec(stored) ?? [];
  if (version === '') return undefined;
  if (version === '1') {
    if (digest.length !== digestBytes.sha256 * 2) return undefined;
    return { scheme: { scheme: 'sha', hash: 'sha256', salt: Buffer.from(salt).toString('base64'), saltPosition: 'before' }, digest };
  }
  const [, , passes = '2', memoryBytes = '67108864'] = version.split('_');
  const saltBytes = Buffer.from(salt).subarray(0, sodiumSaltBytes);
  return foreignHashFromDigestAndSalt(Buffer.from(digest, 'hex'), saltBytes, (length, encodedSalt) => ({
    scheme: 'argon2id',
    memory: Math.floor(Number(memoryBytes) / 1024),
    passes: Number(passes),
    parallelism: 1,
    salt: encodedSalt,
    length,
  }));
}
