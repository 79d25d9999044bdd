/**
 * Lifetime of a cache entry, in milliseconds. Signing keys are cached at least as long as verification results, so this cache does not
 * delay the effect of a key removal.
 */
const ttlMs = 15_000;
const maxEntries = 5_000;

/** Caches the results of token verification, because verifying a signature costs more than the rest of a short request. */
export class VerifiedTokenCache<Verified> {
  readonly #entries = new Map<string, { readonly verified: Verified; readonly at: number }>();

  get(token: string): Verified | undefined {
    const found = this.#entries.get(token);
    if (found && performance.now() - found.at < ttlMs) return found.verified;
    this.#entries.delete(token);
    return undefined;
  }

  set(token: string, verified: Verified): Verified {
    this.#entries.set(token, { verified, at: performance.now() });
    // a map iterates in insertion order, so the first key is the oldest
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxEntries && oldest !== undefined) this.#entries.delete(oldest);
    return verified;
  }
}
