import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import { ExternalSigningKey } from 'oidc-provider';

/**
 * Converts a JWK into a signing key for oidc-provider. ES256 signatures are computed synchronously, because a signature takes less time
 * than the round trip to a worker thread. RS256 takes several times as long, so oidc-provider computes RS256 signatures on another thread.
 */
export const toOidcProviderSigningKey = (jwk: JWK): JWK | ExternalSigningKey => (jwk.alg === 'ES256' ? new InProcessEs256Key(jwk) : jwk);

class InProcessEs256Key extends ExternalSigningKey {
  readonly #jwk: JWK;
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  constructor(jwk: JWK) {
    super();
    this.#jwk = jwk;
    this.#private = createPrivateKey({ key: jwk, format: 'jwk' });
    this.#public = createPublicKey(this.#private);
  }

  override get kid(): string | undefined {
    return this.#jwk.kid;
  }

  override get alg(): string | undefined {
    return this.#jwk.alg;
  }

  override keyObject(): KeyObject {
    return this.#public;
  }

  override sign(data: Uint8Array): Uint8Array {
    return sign('sha256', data, { key: this.#private, dsaEncoding: 'ieee-p1363' });
  }
}
