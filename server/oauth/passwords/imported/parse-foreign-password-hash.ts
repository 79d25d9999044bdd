import { parseLdapOrMagentoHash } from './parse-ldap-or-magento-hash.ts';
import { decodePhpassBase64, getPhpassCharacterValue } from './derive-phpass-digest.ts';
import { parseScryptKdfHash } from './parse-scrypt-kdf-hash.ts';
import { decodeHashBase64, foreignHashFromDigestAndSalt } from './decode-base64-and-create-foreign-hash.ts';
import type { ForeignPasswordHash, PasswordScheme } from './password-scheme-with-parameters.ts';

type Parts = Readonly<Record<string, string>>;
type FormatParser = { readonly pattern: RegExp; readonly parse: (parts: Parts) => ForeignPasswordHash | undefined };

const text = (value: string): string => Buffer.from(value).toString('base64');
const base64 = '[A-Za-z0-9+/.]+={0,2}';

const parseArgon2id = ({ m = '', t = '', p = '', salt = '', digest = '' }: Parts) =>
  foreignHashFromDigestAndSalt(decodeHashBase64(digest), decodeHashBase64(salt), (length, encodedSalt) => ({
    scheme: 'argon2id',
    memory: Number(m),
    passes: Number(t),
    parallelism: Number(p),
    salt: encodedSalt,
    length,
  }));

const parseBcrypt = ({ kind, settings = '', cost = '', digest = '' }: Parts): ForeignPasswordHash => {
  const prehash = kind === 'bcrypt_sha256$' ? 'django-sha256' : kind === '$wp' ? 'wordpress-sha384' : 'none';
  return { scheme: { scheme: 'bcrypt', cost: Number(cost), settings, prehash }, digest: `${settings}${digest}` };
};

const scryptScheme = (N: number, r: string, p: string, length: number, salt: string): PasswordScheme => ({
  scheme: 'scrypt',
  cost: N,
  blockSize: Number(r),
  parallelization: Number(p),
  salt,
  length,
});

const parsePbkdf2 =
  (decodeSalt: (salt: string) => Buffer | undefined) =>
  ({ hash = '', iterations = '', salt = '', digest = '' }: Parts) =>
    foreignHashFromDigestAndSalt(decodeHashBase64(digest), decodeSalt(salt), (length, encodedSalt) => ({
      scheme: 'pbkdf2',
      hash: hash === 'sha256' || hash === 'sha512' ? hash : 'sha1',
      iterations: Number(iterations),
      salt: encodedSalt,
      length,
    }));

/**
 * The formats that start with the name of their scheme: modular crypt format, PHC strings, and the formats of Django, WordPress and
 * Firebase.
 */
const formats: readonly FormatParser[] = [
  {
    pattern: new RegExp(
      String.raw`^(?:argon2)?\$argon2id\$v=19\$m=(?<m>\d{1,9}),t=(?<t>\d{1,9}),p=(?<p>\d{1,3})\$(?<salt>${base64})\$(?<digest>${base64})$`,
    ),
    parse: parseArgon2id,
  },
  {
    pattern: /^(?<kind>bcrypt_sha256\$|bcrypt\$|\$wp)?(?<settings>\$2[aby]\$(?<cost>\d\d)\$[A-Za-z0-9./]{22})(?<digest>[A-Za-z0-9./]{31})$/,
    parse: parseBcrypt,
  },
  {
    pattern: new RegExp(
      String.raw`^\$scrypt\$ln=(?<ln>\d{1,2}),r=(?<r>\d{1,4}),p=(?<p>\d{1,4})\$(?<salt>${base64})\$(?<digest>${base64})$`,
    ),
    parse: ({ ln = '', r = '', p = '', salt = '', digest = '' }) =>
      foreignHashFromDigestAndSalt(decodeHashBase64(digest), decodeHashBase64(salt), (length, s) =>
        scryptScheme(2 ** Number(ln), r, p, length, s),
      ),
  },
  {
    pattern: new RegExp(String.raw`^scrypt\$(?<N>\d{1,9})\$(?<salt>[^$]+)\$(?<r>\d{1,4})\$(?<p>\d{1,4})\$(?<digest>${base64})$`),
    parse: ({ N = '', r = '', p = '', salt = '', digest = '' }) =>
      foreignHashFromDigestAndSalt(decodeHashBase64(digest), Buffer.from(salt), (length, s) => scryptScheme(Number(N), r, p, length, s)),
  },
  {
    pattern: new RegExp(
      String.raw`^\$firescrypt\$ln=(?<ln>\d{1,2}),r=(?<r>\d{1,4}),p=(?<p>\d{1,4})\$(?<salt>${base64})\$(?<digest>${base64})\$(?<separator>${base64})\$(?<key>${base64})$`,
    ),
    parse: ({ ln = '', r = '', p = '', salt = '', digest = '', separator = '', key = '' }) =>
      foreignHashFromDigestAndSalt(decodeHashBase64(digest), decodeHashBase64(salt), (_, encodedSalt) => ({
        scheme: 'firebase-scrypt',
        cost: 2 ** Number(ln),
        blockSize: Number(r),
        parallelization: Number(p),
        salt: encodedSalt,
        saltSeparator: separator,
        signerKey: key,
      })),
  },
  {
    // PHC strings have named parameters; in passlib's format, the only parameter is the number of iterations.
    pattern: new RegExp(
      String.raw`^\$pbkdf2(?:-(?<hash>sha1|sha256|sha512))?\$(?:i=)?(?<iterations>\d{1,9})(?:,l=\d{1,4})?\$(?<salt>${base64})\$(?<digest>${base64})$`,
    ),
    parse: parsePbkdf2(decodeHashBase64),
  },
  {
    pattern: new RegExp(String.raw`^pbkdf2_(?<hash>sha1|sha256|sha512)\$(?<iterations>\d{1,9})\$(?<salt>[^$]+)\$(?<digest>${base64})$`),
    parse: parsePbkdf2((salt) => Buffer.from(salt)),
  },
  {
    pattern: /^(?<hash>sha1(?=\$[^$]+\$.{40}$)|sha256(?=\$[^$]+\$.{64}$))\$(?<salt>[^$]+)\$(?<digest>[0-9a-f]+)$/,
    parse: ({ hash, salt = '', digest = '' }) => ({
      scheme: { scheme: 'sha', hash: hash === 'sha1' ? 'sha1' : 'sha256', salt: text(salt), saltPosition: 'before' },
      digest,
    }),
  },
  {
    pattern: /^\$[PH]\$(?<iterations>[./0-9A-Za-z])(?<salt>[./0-9A-Za-z]{8})(?<digest>[./0-9A-Za-z]{22})$/,
    parse: ({ iterations = '', salt = '', digest = '' }) => ({
      scheme: { scheme: 'phpass', log2Iterations: getPhpassCharacterValue(iterations), salt },
      digest: decodePhpassBase64(digest).toString('hex'),
    }),
  },
];

/** Parses a password hash in another system's format; returns undefined if the format is unknown. */
export function parseForeignPasswordHash(stored: string): ForeignPasswordHash | undefined {
  for (const { pattern, parse } of formats) {
    const parts = pattern.exec(stored)?.groups;
    if (parts) return parse(parts);
  }
  return parseLdapOrMagentoHash(stored) ?? parseScryptKdfHash(stored);
}
