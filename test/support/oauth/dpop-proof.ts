import { createHash, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';

export type DpopKey = { readonly privateKey: CryptoKey; readonly jwk: JWK };

export async function createDpopKey(): Promise<DpopKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return { privateKey, jwk: await exportJWK(publicKey) };
}

/**
 * Creates a DPoP proof (RFC 9449 section 4.2).
 * @param change claims to replace; the value `undefined` removes a claim
 */
export function createDpopProof(
  { privateKey, jwk }: DpopKey,
  request: { method: string; url: string; token?: string },
  change: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const claims = {
    jti: randomUUID(),
    htm: request.method,
    htu: request.url,
    iat: Math.floor(Date.now() / 1000),
    ...(request.token !== undefined && { ath: createHash('sha256').update(request.token).digest('base64url') }),
    ...change,
  };
  return new SignJWT(JSON.parse(JSON.stringify(claims)))
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk, ...header })
    .sign(privateKey);
}
