import { createECDH, hkdfSync, webcrypto } from 'node:crypto';
import * as oauth from 'oauth4webapi';

/** Option that makes the library add a DPoP proof to a request; an empty object for providers that do not support DPoP. */
export type DpopOption = { readonly DPoP?: oauth.DPoPHandle };

const algorithm = 'ES256';

/** Proves possession of a key to providers that support DPoP (RFC 9449), so that a stolen token is useless without the key. */
export class ProviderDpop {
  readonly #secret: Buffer;
  #handle: Promise<oauth.DPoPHandle> | undefined;

  /** @param secret the secret from which the key is derived (32 bytes) */
  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  /** Returns the DPoP option for requests to a provider. */
  async optionFor({ dpop_signing_alg_values_supported: supported }: oauth.AuthorizationServer): Promise<DpopOption> {
    if (supported?.includes(algorithm) !== true) return {};
    this.#handle ??= deriveDpopKeyPair(this.#secret).then((keyPair) => oauth.DPoP({}, keyPair));
    return { DPoP: await this.#handle };
  }
}

/**
 * Retries a request if the provider requires a nonce in the proof (RFC 9449 section 8). The library stores the nonce from the first
 * response and uses this nonce in the retry.
 */
export async function retryWithDpopNonce<Result>(send: () => Promise<Result>): Promise<Result> {
  try {
    return await send();
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error;
    return send();
  }
}

const curve = { name: 'ECDSA', namedCurve: 'P-256' } as const;
/** Number of points on the P-256 curve. */
const curveOrder = 0xffffffff_00000000_ffffffff_ffffffff_bce6faad_a7179e84_f3b9cac2_fc632551n;

/**
 * Derives the key pair. The key pair is not random, because all processes must use the same key, even after a restart. Providers may bind
 * codes and refresh tokens to the key.
 */
async function deriveDpopKeyPair(secret: Buffer): Promise<oauth.CryptoKeyPair> {
  // The derived value is 16 bytes longer than the key, so that the remainder is almost uniformly distributed (FIPS 186-5 section A.2.1).
  const bits = Buffer.from(hkdfSync('sha256', secret, '', 'DPoP key for identity providers', 48));
  const scalar = (BigInt(`0x${bits.toString('hex')}`) % (curveOrder - 1n)) + 1n;
  const privateBytes = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex');
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(privateBytes);
  const point = ecdh.getPublicKey(); // the byte 0x04, followed by x and y
  const publicJwk = { kty: 'EC', crv: 'P-256', x: point.toString('base64url', 1, 33), y: point.toString('base64url', 33) };
  const privateJwk = { ...publicJwk, d: privateBytes.toString('base64url') };
  const { subtle } = webcrypto;
  return {
    privateKey: await subtle.importKey('jwk', privateJwk, curve, false, ['sign']),
    publicKey: await subtle.importKey('jwk', publicJwk, curve, true, ['verify']),
  };
}
