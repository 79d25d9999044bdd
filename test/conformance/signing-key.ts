import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';

export type SigningKey = { readonly publicJwk: Record<string, unknown>; readonly privateJwk: Record<string, unknown> };

/** Creates an application's key pair. The suite receives the private key, because the suite acts as the application. */
export function createSigningKey(alg: 'PS256' | 'ES256'): SigningKey {
  const { publicKey, privateKey } =
    alg === 'PS256' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const describe = (jwk: JsonWebKey): Record<string, unknown> => ({ ...jwk, kid: `conformance-${alg.toLowerCase()}`, alg, use: 'sig' });
  return { publicJwk: describe(publicKey.export({ format: 'jwk' })), privateJwk: describe(privateKey.export({ format: 'jwk' })) };
}
