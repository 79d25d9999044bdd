import type { ProvenRequest } from '../core/token-source.ts';

/** A `CryptoKey`, by whatever name the platform's types have for it. */
type PrivateKey = Parameters<typeof crypto.subtle.sign>[1];

/** A private JSON web key (RFC 7517) of the curve P-256. */
export type ProofJwk = { readonly [Member in 'kty' | 'crv' | 'x' | 'y' | 'd']?: string };

/**
 * The key that tokens are bound to (DPoP, RFC 9449): whoever has a token, or the refresh token, and not this key can do nothing with it.
 * In a browser it can be kept in IndexedDB without anybody, the page included, being able to read it.
 */
export type ProofKey = {
  readonly privateKey: PrivateKey;
  readonly publicJwk: Readonly<Record<'kty' | 'crv' | 'x' | 'y', string>>;
};

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };

/** `extractable`: for keys that have to be written somewhere with `exportProofKey`. */
export async function newProofKey({ extractable = false }: { readonly extractable?: boolean | undefined } = {}): Promise<ProofKey> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, extractable, ['sign', 'verify']);
  return { privateKey, publicJwk: publicPart(await crypto.subtle.exportKey('jwk', publicKey)) };
}

/** As a private JSON web key, a secret. Fails for a key that is not extractable. */
export const exportProofKey = ({ privateKey }: ProofKey): Promise<ProofJwk> => crypto.subtle.exportKey('jwk', privateKey);

export async function importProofKey(jwk: ProofJwk): Promise<ProofKey> {
  return { privateKey: await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['sign']), publicJwk: publicPart(jwk) };
}

function publicPart({ kty = '', crv = '', x = '', y = '' }: ProofJwk): ProofKey['publicJwk'] {
  return { kty, crv, x, y };
}

/** Proves that a request comes from who has the key; good for this one request. */
export async function proofOf({ privateKey, publicJwk }: ProofKey, { method, url, accessToken }: ProvenRequest): Promise<string> {
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: publicJwk };
  const claims = {
    jti: base64url(crypto.getRandomValues(new Uint8Array(16))),
    htm: method,
    htu: url.replace(/[?#].*/, ''),
    iat: Math.floor(Date.now() / 1000),
    ...(accessToken !== undefined && { ath: await sha256(accessToken) }),
  };
  const signed = [header, claims].map((part) => base64url(bytesOf(JSON.stringify(part)))).join('.');
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, bytesOf(signed));
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

/** What an authorization server calls the key (RFC 7638); the order of the members is part of it. */
export const thumbprint = ({ publicJwk: { crv, kty, x, y } }: ProofKey): Promise<string> => sha256(JSON.stringify({ crv, kty, x, y }));

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const sha256 = async (text: string): Promise<string> => base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(text))));
const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** A key, or a function that gives the one of the moment. */
export type ProofKeySource = ProofKey | (() => Promise<ProofKey | undefined>) | undefined;

export const currentKey = async (proofKey: ProofKeySource): Promise<ProofKey | undefined> =>
  typeof proofKey === 'function' ? proofKey() : proofKey;

/** The proof of one request, if there is a key. */
export async function proofWith(proofKey: ProofKeySource, request: ProvenRequest): Promise<string | undefined> {
  const key = await currentKey(proofKey);
  return key && proofOf(key, request);
}
