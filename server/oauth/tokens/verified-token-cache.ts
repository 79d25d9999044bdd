/** In milliseconds; no longer than keys are kept before they are read again, so that a withdrawn key is known of as soon. */
const keptFor = 15_000;
const keptMax = 5_000;

/** What was found out about tokens a moment ago. Checking a signature costs more than everything else that is done for a short answer. */
export class RecentlyVerified<Verified> {
  readonly #kept = new Map<string, { readonly verified: Verified; readonly at: number }>();

  find(token: string): Verified | undefined {
    const found = this.#kept.get(token);
    if (found && performance.now() - found.at < keptFor) return found.verified;
    this.#kept.delete(token);
    return undefined;
  }

  keep(token: string, verified: Verified): Verified {
    this.#kept.set(token, { verified, at: performance.now() });
    // a map gives its keys in the order they came: the first is the oldest
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest);
    return verified;
  }
}
