import { X509Certificate } from 'node:crypto';
import type { PublicJsonWebKey } from '@mandate/contract';
import { z } from 'zod';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { parsePublicJwk, UnusableJwkError } from './parse-public-jwk.ts';

const certificateSchema = z.object({
  x5c: z
    .tuple([z.string().max(20_000)])
    .rest(z.unknown())
    .optional(),
});

/**
 * Returns a public key, as `parsePublicJwk` does, and adds the certificate that an application uses to authenticate (RFC 8705 section
 * 2.2.2), which is the first certificate in `x5c` (RFC 7517 section 4.7). Other certificates in `x5c` are ignored.
 * @throws {UnusableJwkError} if the key is not usable, or if it is not the key of the certificate
 */
export function parseJwkWithCertificate(jwk: unknown): PublicJsonWebKey {
  const key = parsePublicJwk(jwk);
  const parsed = certificateSchema.safeParse(jwk);
  if (!parsed.success)
    throw new UnusableJwkError(translatable`has an invalid x5c member: it must be a list of base64-encoded DER certificates`);
  const [encoded] = parsed.data.x5c ?? [];
  if (encoded === undefined) return key;
  const certificate = parseCertificate(encoded);
  const ofCertificate = certificate.publicKey.export({ format: 'jwk' });
  if ((['kty', 'crv', 'x', 'y', 'n', 'e'] as const).some((member) => ofCertificate[member] !== key[member]))
    throw new UnusableJwkError(translatable`does not match the first certificate in its x5c member`);
  return { ...key, x5c: [certificate.raw.toString('base64')] };
}

function parseCertificate(encoded: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(encoded, 'base64'));
  } catch (cause) {
    throw new UnusableJwkError(translatable`has an invalid x5c member: the first entry is not a base64-encoded DER certificate`, {
      cause,
    });
  }
}
