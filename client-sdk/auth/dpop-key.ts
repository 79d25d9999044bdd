import { encodeBase64url } from '../core/base64url.ts';
import type { Fetch, ProvenRequest, TokenSource } from '../core/token-source.ts';

/** The `CryptoKey` type, inferred from a function because platforms declare it under different names. */
type PrivateKey = Parameters<typeof crypto.subtle.sign>[1];

/** A private JSON Web Key (RFC 7517) on the P-256 curve. */
export type ProofJwk = { readonly [Member in 'kty' | 'crv' | 'x' | 'y' | 'd']?: string };

/**
 * A key to which tokens are bound (DPoP, RFC 9449). Stolen access and refresh tokens cannot be used without the key. A browser can store
 * the key in IndexedDB as non-extractable, so that even the page itself cannot read the private key.
 */
export type ProofKey = {
  readonly privateKey: PrivateKey;
  readonly publicJwk: Readonly<Record<'kty' | 'crv' | 'x' | 'y', string>>;
};

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };

/** Generates a key. Set `extractable` if you want to export the key with `exportProofKey`. */
export async function newProofKey({ extractable = false }: { readonly extractable?: boolean | undefined } = {}): Promise<ProofKey> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, extractable, ['sign', 'verify']);
  return { privateKey, publicJwk: publicMembers(await crypto.subtle.exportKey('jwk', publicKey)) };
}

/** Exports the private key as a JSON Web Key, which is a secret. Fails if the key is not extractable. */
export const exportProofKey = ({ privateKey }: ProofKey): Promise<ProofJwk> => crypto.subtle.exportKey('jwk', privateKey);

/** Imports a key that was exported with `exportProofKey`. */
export async function importProofKey(jwk: ProofJwk): Promise<ProofKey> {
  return { privateKey: await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['sign']), publicJwk: publicMembers(jwk) };
}

function publicMembers({ kty = '', crv = '', x = '', y = '' }: ProofJwk): ProofKey['publicJwk'] {
  return { kty, crv, x, y };
}

/**
 * The last nonce received from each server. The API and the authorization server have separate nonces, even if they share an origin (RFC
 * 9449 section 9).
 */
const nonces = new Map<string, string>();
const nonceScope = ({ url, accessToken }: ProvenRequest): string => (accessToken ? 'api ' : '') + new URL(url).origin;

/** Creates a DPoP proof, which is valid for one request. */
export async function createDpopProof({ privateKey, publicJwk }: ProofKey, request: ProvenRequest): Promise<string> {
  const { method, url, accessToken } = request;
  const nonce = nonces.get(nonceScope(request));
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: publicJwk };
  const claims = {
    jti: encodeBase64url(crypto.getRandomValues(new Uint8Array(16))),
    htm: method,
    htu: url.replace(/[?#].*/, ''),
    iat: Math.floor(Date.now() / 1000),
    ...(accessToken !== undefined && { ath: await sha256(accessToken) }),
    ...(nonce !== undefined && { nonce }),
  };
  const signingInput = [header, claims].map((part) => encodeBase64url(bytesOf(JSON.stringify(part)))).join('.');
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, bytesOf(signingInput));
  return `${signingInput}.${encodeBase64url(new Uint8Array(signature))}`;
}

/** Returns the key's thumbprint (RFC 7638): the hash of the public JWK's required members in alphabetical order. */
export const calculateKeyThumbprint = ({ publicJwk: { crv, kty, x, y } }: ProofKey): Promise<string> =>
  sha256(JSON.stringify({ crv, kty, x, y }));

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const sha256 = async (text: string): Promise<string> =>
  encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(text))));

/** A key, or a function that returns the current key. */
export type ProofKeySource = ProofKey | (() => Promise<ProofKey | undefined>) | undefined;

/** Returns a key source's current key. */
export const getCurrentProofKey = async (proofKey: ProofKeySource): Promise<ProofKey | undefined> =>
  typeof proofKey === 'function' ? proofKey() : proofKey;

/** Returns the token source methods that add DPoP proofs to requests. */
export const createTokenSourceProofMethods = (proofKey: ProofKeySource): Pick<TokenSource, 'proof' | 'wrapFetch'> =>
  proofKey
    ? {
        proof: (request) => createDpopProofIfKeyIsSet(proofKey, request),
        wrapFetch: (fetch) => createFetchWithDpopNonceRetry(proofKey, fetch),
      }
    : {};

/**
 * Returns a `fetch` function that retries a request once if the server requires a nonce in the DPoP proof (RFC 9449 sections 8 and 9).
 * Retrying the request is safe, because the server checks the proof before it processes the request.
 */
export const createFetchWithDpopNonceRetry =
  (proofKey: ProofKeySource, fetch: Fetch): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    const [headers, nonce] = [new Headers(init.headers), response.headers.get('dpop-nonce')];
    if (nonce === null || !headers.has('dpop')) return response;
    const accessToken = headers.get('authorization')?.replace(/^DPoP |^Basic .*/, '');
    const request = { method: init.method ?? 'GET', url, accessToken };
    nonces.set(nonceScope(request), nonce);
    const error = response.headers.get('www-authenticate') ?? (response.status === 400 ? await response.clone().text() : '');
    if (!error.includes('use_dpop_nonce') || init.body instanceof ReadableStream) return response;
    headers.set('dpop', (await createDpopProofIfKeyIsSet(proofKey, request)) ?? '');
    return fetch(url, { ...init, headers });
  };

/** Creates a DPoP proof for a request; returns `undefined` if there is no key. */
export async function createDpopProofIfKeyIsSet(proofKey: ProofKeySource, request: ProvenRequest): Promise<string | undefined> {
  const key = await getCurrentProofKey(proofKey);
  return key && createDpopProof(key, request);
}
