import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify, type CryptoKey } from 'jose';
import { z } from 'zod';
import { sha256 } from '../../crypto/sha256.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { ShortLivedCache } from '../../memory/short-lived-cache.ts';
import { createDpopProofIdConsumer } from './consume-dpop-proof-id.sql.ts';
import { maxDpopNonceAgeSeconds, type DpopNonces } from './dpop-nonces.ts';

/** Accepted DPoP signature algorithms, in the same order as in the metadata. */
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
const proofHeader = z.object({ alg: z.string(), jwk: z.record(z.unknown()) });

type ProofClaims = z.infer<typeof proofClaims>;
/** Cache for the keys of proofs, because importing a key takes as long as verifying a signature. */
type ProofKeyCache = ShortLivedCache<{ readonly thumbprint: string; readonly key: CryptoKey }>;

export type DpopRequest = { readonly proof: string; readonly method: string; readonly url: string };

/** `use_nonce`: the proof is otherwise valid, but it is not recent and contains no current nonce (RFC 9449 section 9). */
export type DpopProofVerification = 'valid' | 'invalid' | 'use_nonce';

export type VerifyDpopProof = (thumbprint: string, token: string, request: DpopRequest, now: Date) => Promise<DpopProofVerification>;

/**
 * Creates a verifier for DPoP proofs (RFC 9449 section 4.3). A proof must be recent and unused, and must match the request, the token and
 * the token's key.
 */
export function createDpopProofVerifier(em: EntityManager, nonces: DpopNonces): VerifyDpopProof {
  const keys: ProofKeyCache = new ShortLivedCache();
  const consumeProofId = createDpopProofIdConsumer(em);
  return async (thumbprint, token, request, now) => {
    const claims = await verifySignature(keys, thumbprint, request.proof);
    if (!claims || !matchesRequest(claims, request) || claims.ath !== sha256(token, 'base64url')) return 'invalid';
    const { jti, iat, nonce } = claims;
    const nowSeconds = now.getTime() / 1000;
    const isRecent = nonce === undefined ? Math.abs(nowSeconds - iat) <= toleranceSeconds : nonces.accepts(nonce, now);
    if (!isRecent) return 'use_nonce';
    const acceptedUntil = nonce === undefined ? iat + 2 * toleranceSeconds : nowSeconds + maxDpopNonceAgeSeconds;
    const isUnused = await consumeProofId({ id: sha256(`${thumbprint} ${jti}`, 'base64url'), expiresAt: new Date(acceptedUntil * 1000) });
    return isUnused ? 'valid' : 'invalid';
  };
}

/** Returns a proof's claims if the proof is signed with the key that has this thumbprint; otherwise, returns undefined. */
async function verifySignature(keys: ProofKeyCache, thumbprint: string, proof: string): Promise<ProofClaims | undefined> {
  try {
    const key = await findKey(keys, thumbprint, proof);
    if (!key) return undefined;
    const { payload } = await jwtVerify(proof, key, { typ: 'dpop+jwt', algorithms: [...dpopAlgorithms] });
    return proofClaims.parse(payload);
  } catch {
    return undefined;
  }
}

/**
 * Returns the key in the proof's header if the key has this thumbprint. Only such keys are cached, so that other keys cannot displace them.
 */
async function findKey(keys: ProofKeyCache, thumbprint: string, proof: string): Promise<CryptoKey | undefined> {
  const { alg, jwk } = proofHeader.parse(decodeProtectedHeader(proof));
  const keyId = `${alg} ${JSON.stringify(jwk)}`;
  const cached = keys.get(keyId);
  if (cached) return cached.thumbprint === thumbprint ? cached.key : undefined;
  if ((await calculateJwkThumbprint(jwk)) !== thumbprint) return undefined;
  return keys.set(keyId, { thumbprint, key: await EmbeddedJWK({ alg, jwk }) }).key;
}

const matchesRequest = ({ htm, htu }: ProofClaims, { method, url }: DpopRequest): boolean =>
  htm === method && URL.canParse(htu) && withoutQueryAndFragment(htu) === withoutQueryAndFragment(url);

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
