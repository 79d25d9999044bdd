import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { clearKoaContextAfterResponse, storeKoaContextForClearing } from './clear-koa-context-after-response.ts';
import type { PublishedKeySet, RotatingSigningKeyCache } from '../signing-keys/rotating-signing-key-cache.ts';

/**
 * Replaces the provider when the signing keys change, because oidc-provider accepts keys only at construction. In-flight requests finish
 * with the provider they started with. The old and the new provider share their state through the database.
 */
export class ReloadableOidcProvider {
  readonly #keys: RotatingSigningKeyCache;
  readonly #createProvider: (keys: PublishedKeySet['keys']) => Provider;
  #active: { readonly set: PublishedKeySet; readonly provider: Provider; readonly callback: ReturnType<Provider['callback']> };

  private constructor(keys: RotatingSigningKeyCache, createProvider: (keys: PublishedKeySet['keys']) => Provider, set: PublishedKeySet) {
    this.#keys = keys;
    this.#createProvider = createProvider;
    this.#active = this.#build(set);
  }

  static async start(
    keys: RotatingSigningKeyCache,
    createProvider: (keys: PublishedKeySet['keys']) => Provider,
  ): Promise<ReloadableOidcProvider> {
    return new ReloadableOidcProvider(keys, createProvider, await keys.current());
  }

  /** The current provider, whose keys may be outdated. Pages can use this provider, because pages do not sign anything. */
  get provider(): Provider {
    return this.#active.provider;
  }

  readonly handleRequest = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const set = await this.#keys.current();
    if (set !== this.#active.set) this.#active = this.#build(set);
    try {
      await this.#active.callback(req, res);
    } finally {
      clearKoaContextAfterResponse(req, res);
    }
  };

  #build(set: PublishedKeySet) {
    const provider = this.#createProvider(set.keys);
    provider.use(storeKoaContextForClearing);
    return { set, provider, callback: provider.callback() };
  }
}
