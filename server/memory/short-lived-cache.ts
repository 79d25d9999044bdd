/** Lifetime of a cache entry, in milliseconds. */
const ttlMs = 15_000;
const maxEntries = 5_000;

/** Caches the newest 5,000 values, each for 15 seconds. */
export class ShortLivedCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly at: number }>();

  get(key: string): Value | undefined {
    const found = this.#entries.get(key);
    if (found && performance.now() - found.at < ttlMs) return found.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value): Value {
    this.#entries.set(key, { value, at: performance.now() });
    // a map iterates in insertion order, so the first key is the oldest
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxEntries && oldest !== undefined) this.#entries.delete(oldest);
    return value;
  }
}
