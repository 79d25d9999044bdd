import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';

/** What the engine accepts and publishes, in the same order. */
export const proofAlgorithms = ['ES256', 'Ed25519', 'EdDSA'] as const;

/** Seconds that the clocks of two machines may differ, and a proof may be on its way. */
const window = 60;

const proofClaims = z.object({
  jti: z.string().min(1).max(512),
  htm: z.string(),
  htu: z.string().max(2048),
  iat: z.number().int(),
  ath: z.string(),
});
const proofHeader = z.object({ jwk: z.record(z.unknown()) });

export type Proven = { readonly proof: string; readonly method: string; readonly url: string };

// The first request with a proof keeps it; another that comes at the same moment waits and finds it.
const keepProof = statement<{ id: string }>(
  'keep_dpop_proof',
  `insert into oauth_records (model, id, payload, expires_at) values ('ReplayDetection', $1, '{}', $2)
   on conflict (model, id) do nothing returning id`,
);

/** Whether the request proves that it comes from whoever the token was issued to (RFC 9449 section 4.3), for the first time. */
export async function isProven(em: Em, thumbprint: string, token: string, request: Proven, now: Date): Promise<boolean> {
  const verified = await jwtVerify(request.proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: [...proofAlgorithms] }).catch(
    () => undefined,
  );
  const claims = proofClaims.safeParse(verified?.payload);
  const header = proofHeader.safeParse(verified?.protectedHeader);
  if (!claims.success || !header.success) return false;
  const { jti, htm, htu, iat, ath } = claims.data;
  const matches =
    htm === request.method &&
    URL.canParse(htu) &&
    withoutQuery(htu) === withoutQuery(request.url) &&
    Math.abs(now.getTime() / 1000 - iat) <= window &&
    ath === hash(token) &&
    (await calculateJwkThumbprint(header.data.jwk)) === thumbprint;
  if (!matches) return false;
  const kept = await keepProof(em, [hash(`${thumbprint} ${jti}`), new Date((iat + 2 * window) * 1000)]);
  return kept.length > 0;
}

/** Returns the thumbprint (RFC 7638) of the key that a proof names, or `null` if there is none. It does not verify the proof. */
export async function proofKeyThumbprint(proof: string): Promise<string | null> {
  if (proof === '') return null;
  try {
    return await calculateJwkThumbprint(proofHeader.parse(decodeProtectedHeader(proof)).jwk);
  } catch {
    return null; // malformed: the engine refuses the request
  }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url');

function withoutQuery(address: string): string {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  return url.href;
}
