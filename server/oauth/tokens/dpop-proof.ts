import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose';
import { z } from 'zod';
import { sha256 } from '../../crypto/sha256.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../../database/queries/insert-if-absent.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';

/** Accepted DPoP signature algorithms, in the order in which the metadata lists them. */
export const dpopAlgorithms = ['ES256', 'Ed25519', 'EdDSA'] as const;

/** Maximum difference between a proof's timestamp and the server time, in seconds. */
const toleranceSeconds = 60;

const proofClaims = z.object({
  jti: z.string().min(1).max(512),
  htm: z.string(),
  htu: z.string().max(2048),
  iat: z.number().int(),
  ath: z.string(),
});
const proofHeader = z.object({ jwk: z.record(z.unknown()) });

export type DpopRequest = { readonly proof: string; readonly method: string; readonly url: string };

/**
 * Verifies a request's DPoP proof (RFC 9449 section 4.3): the proof must match the request, the token and the token's key, and must be
 * unused.
 */
export async function verifyAndConsumeDpopProof(
  em: EntityManager,
  thumbprint: string,
  token: string,
  request: DpopRequest,
  now: Date,
): Promise<boolean> {
  const verified = await jwtVerify(request.proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: [...dpopAlgorithms] }).catch(() => undefined);
  const claims = proofClaims.safeParse(verified?.payload);
  const header = proofHeader.safeParse(verified?.protectedHeader);
  if (!claims.success || !header.success) return false;
  const { jti, htm, htu, iat, ath } = claims.data;
  const matches =
    htm === request.method &&
    URL.canParse(htu) &&
    withoutQueryAndFragment(htu) === withoutQueryAndFragment(request.url) &&
    Math.abs(now.getTime() / 1000 - iat) <= toleranceSeconds &&
    ath === sha256(token, 'base64url') &&
    (await calculateJwkThumbprint(header.data.jwk)) === thumbprint;
  if (!matches) return false;
  const id = sha256(`${thumbprint} ${jti}`, 'base64url');
  const expiresAt = new Date((iat + 2 * toleranceSeconds) * 1000);
  return insertIfAbsent(em, OauthRecord, { model: 'ReplayDetection', id, payload: '{}', expiresAt });
}

/** Returns the thumbprint (RFC 7638) of a DPoP proof's key, without verifying the proof. Returns null for a missing or malformed proof. */
export async function thumbprintFromUnverifiedDpopProof(proof: string): Promise<string | null> {
  if (proof === '') return null;
  try {
    return await calculateJwkThumbprint(proofHeader.parse(decodeProtectedHeader(proof)).jwk);
  } catch {
    return null; // oidc-provider rejects a malformed proof
  }
}

function withoutQueryAndFragment(address: string): string {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  return url.href;
}
