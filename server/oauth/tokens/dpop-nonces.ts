import { createHmac, timingSafeEqual } from 'node:crypto';

const stepMs = 60_000;
/**
 * Number of time steps for which a nonce is accepted after the step in which it was issued. A nonce is therefore accepted for four to five
 * minutes.
 */
const acceptedSteps = 4;

/** Maximum age of an accepted nonce, in seconds. */
export const maxDpopNonceAgeSeconds = ((acceptedSteps + 1) * stepMs) / 1000;

/**
 * Nonces for DPoP proofs at the API (RFC 9449 section 9). A nonce shows that a proof was created recently, even if the client's clock is
 * wrong. All processes derive the same nonces from the key and the time, so nothing is stored.
 */
export class DpopNonces {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  current(now: Date): string {
    return this.#derive(Math.floor(now.getTime() / stepMs)).toString('base64url');
  }

  accepts(nonce: string, now: Date): boolean {
    const given = Buffer.from(nonce, 'base64url');
    const step = Math.floor(now.getTime() / stepMs);
    return Array.from({ length: acceptedSteps + 1 }, (_, age) => this.#derive(step - age)).some(
      (accepted) => accepted.length === given.length && timingSafeEqual(accepted, given),
    );
  }

  #derive(step: number): Buffer {
    return createHmac('sha256', this.#key).update(String(step)).digest();
  }
}
