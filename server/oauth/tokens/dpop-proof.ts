import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose';
import { z } from 'zod';
import { sha256 } from '../../crypto/sha256.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../../database/queries/insert-if-absent.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import { maxDpopNonceAgeSeconds, type DpopNonces } from './dpop-nonces.ts';

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
  nonce: z.string().optional(),
});
const proofHeader = z.object({ jwk: z.record(z.unknown()) });

export type DpopRequest = { readonly proof: string; readonly method: string; readonly url: string };

/** `use_nonce`: the proof is otherwise valid, but its time is not recent and it contains no current nonce (RFC 9449 section 9). */
export type DpopProofVerification = 'valid' | 'invalid' | 'use_nonce';

/**
 * Verifies a request's DPoP proof (RFC 9449 section 4.3): the proof must match the request, the token and the token's key, must be recent, and
 * must be unused.
 */
export async function verifyAndConsumeDpopProof(
  em: EntityManager,
  thumbprint: string,
  token: string,
  request: DpopRequest,
  nonces: DpopNonces,
  now: Date,
): Promise<DpopProofVerification> {
  const verified = await jwtVerify(request.proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: [...dpopAlgorithms] }).catch(() => undefined);
  const claims = proofClaims.safeParse(verified?.payload);
  const header = proofHeader.safeParse(verified?.protectedHeader);
  if (!claims.success || !header.success) return 'invalid';
  const { jti, htm, htu, iat, ath, nonce } = claims.data;
  const matches =
    htm === request.method &&
    URL.canParse(htu) &&
    withoutQueryAndFragment(htu) === withoutQueryAndFragment(request.url) &&
    ath === sha256(token, 'base64url') &&
    (await calculateJwkThumbprint(header.data.jwk)) === thumbprint;
  if (!matches) return 'invalid';
  const nowSeconds = now.getTime() / 1000;
  const isRecent = nonce === undefined ? Math.abs(nowSeconds - iat) <= toleranceSeconds : nonces.accepts(nonce, now);
  if (!isRecent) return 'use_nonce';
  const id = sha256(`${thumbprint} ${jti}`, 'base64url');
  const acceptedUntil = nonce === undefined ? iat + 2 * toleranceSeconds : nowSeconds + maxDpopNonceAgeSeconds;
  const record = { model: 'ReplayDetection', id, payload: '{}', expiresAt: new Date(acceptedUntil * 1000) } as const;
  return (await insertIfAbsent(em, OauthRecord, record)) ? 'valid' : 'invalid';
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
