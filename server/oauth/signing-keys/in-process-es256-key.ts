import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import { ExternalSigningKey } from 'oidc-provider';

/**
 * What the engine signs with. A signature by an elliptic curve takes less time than the way to another thread and back, so it is made
 * here and now; one by RSA takes several times as long, and is left to the engine, which has another thread make it.
 */
export const signingKey = (jwk: JWK): JWK | ExternalSigningKey => (jwk.alg === 'ES256' ? new SigningKeyAtHand(jwk) : jwk);

class SigningKeyAtHand extends ExternalSigningKey {
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
