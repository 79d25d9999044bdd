import { createPublicKey, type KeyObject } from 'node:crypto';
import type { PublicJsonWebKey } from '@mandate/contract';
import { z } from 'zod';
import { translatable, type TranslatableText } from '../http/problem-details/translatable-text.ts';
import { formatInEnglish } from '../http/problem-details/translate-detail.ts';

/**
 * Thrown for an unusable key. The message completes a sentence whose subject is the key, and is intended for the developer of the client.
 */
export class UnusableJwkError extends Error {
  override readonly name: string = 'UnusableJwkError';
  readonly reason: TranslatableText;

  constructor(reason: TranslatableText, options?: ErrorOptions) {
    super(formatInEnglish(reason), options);
    this.reason = reason;
  }
}

/** Thrown for a key that contains private or symmetric key material. The error tells the key's owner that the key is no longer secret. */
export class SecretKeyMaterialError extends UnusableJwkError {
  override readonly name = 'SecretKeyMaterialError';
}

/** Members of a JSON Web Key that must stay secret (RFC 7518 section 6). */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

const rsaBits = { min: 2048, max: 8192 };
/** Small exponents have made forged signatures possible, and with the exponent 1, every message is its own signature. */
const rsaExponentMin = 65_537n;

/** Signature algorithms by key type. The server recommends the first algorithm for each type. */
const algorithmsByKeyType: Readonly<Record<string, readonly string[]>> = {
  EC: ['ES256'],
  OKP: ['EdDSA', 'Ed25519'],
  RSA: ['PS256', 'RS256'],
};
export const clientAssertionAlgorithms = ['ES256', 'PS256', 'EdDSA', 'Ed25519', 'RS256'] as const;

const printableText = z.string().regex(/^[!-~]{1,200}$/);
const jwkSchema = z.object({
  kty: z.string(),
  kid: printableText.optional(),
  alg: printableText.optional(),
  use: z.string().optional(),
  crv: z.string().optional(),
});
const exportedKey = z.object({
  kty: z.string(),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
  n: z.string().optional(),
  e: z.string().optional(),
});

/**
 * Returns a public signature key, reduced to the members that the server uses.
 * @throws {UnusableJwkError} if the key is private, of an unsupported type or too weak
 */
export function parsePublicJwk(jwk: unknown): PublicJsonWebKey {
  const parsed = jwkSchema.safeParse(jwk);
  if (!parsed.success) {
    const [path = 'kty'] = parsed.error.issues[0]?.path ?? [];
    throw new UnusableJwkError(translatable`is not a JSON Web Key: its ${{ member: path }} member is missing or not valid`);
  }
  const secret = Object.keys(z.record(z.unknown()).parse(jwk)).filter((name) => secretMembers.includes(name));
  if (secret.length > 0)
    throw new SecretKeyMaterialError(
      translatable`contains private key members (${{ members: secret.join(', ') }}): replace the key pair, and publish only the public key`,
    );
  const { kty, kid, alg, use } = parsed.data;
  const algorithms = Object.hasOwn(algorithmsByKeyType, kty) ? algorithmsByKeyType[kty] : undefined;
  if (!algorithms) throw new UnusableJwkError(translatable`has an unsupported type: the supported types are EC, OKP and RSA`);
  if (use !== undefined && use !== 'sig') throw new UnusableJwkError(translatable`is not a signing key: its use member must be sig`);
  if (alg !== undefined && !algorithms.includes(alg))
    throw new UnusableJwkError(
      translatable`has an unsupported algorithm: the alg member of a key of type ${{ type: kty }} must be ${{ algorithms: { anyOf: algorithms } }}`,
    );
  const key = importPublicKey(jwk);
  assertStrongKey(key);
  return { ...exportedKey.parse(key.export({ format: 'jwk' })), ...definedMembers({ kid, alg, use }) };
}

function importPublicKey(jwk: unknown): KeyObject {
  try {
    return createPublicKey({ key: definedMembers(exportedKey.parse(jwk)), format: 'jwk' });
  } catch (cause) {
    throw new UnusableJwkError(translatable`does not contain a valid public key`, { cause });
  }
}

function assertStrongKey({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): void {
  if (type === 'ec' && details?.namedCurve !== 'prime256v1')
    throw new UnusableJwkError(translatable`has an unsupported curve: an EC key must use P-256`);
  if (type !== 'ec' && type !== 'rsa' && type !== 'ed25519')
    throw new UnusableJwkError(translatable`has an unsupported curve: an OKP key must use Ed25519`);
  if (type !== 'rsa') return;
  const { modulusLength = 0, publicExponent = 0n } = details ?? {};
  if (modulusLength < rsaBits.min)
    throw new UnusableJwkError(translatable`is too weak: an RSA key must have at least ${{ bits: rsaBits.min }} bits`);
  if (modulusLength > rsaBits.max)
    throw new UnusableJwkError(translatable`is too large: an RSA key must have at most ${{ bits: rsaBits.max }} bits`);
  if (publicExponent < rsaExponentMin || publicExponent % 2n === 0n)
    throw new UnusableJwkError(translatable`is too weak: the exponent of an RSA key must be odd and at least 65537`);
}

const definedMembers = (members: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
