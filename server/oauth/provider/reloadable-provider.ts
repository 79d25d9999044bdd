import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { letGoWhenSent, noteContext } from './release-request-context.ts';
import type { KeySet, SigningKeys } from '../signing-keys/signing-key-set.ts';

/**
 * Replaces the provider when the signing keys change, because oidc-provider accepts keys only at construction. Requests in flight
 * finish with the provider they started with. Both share their state through the database.
 */
export class RunningEngine {
  readonly #keys: SigningKeys;
  readonly #createProvider: (keys: KeySet['keys']) => Provider;
  #active: { readonly set: KeySet; readonly provider: Provider; readonly callback: ReturnType<Provider['callback']> };

  private constructor(keys: SigningKeys, createProvider: (keys: KeySet['keys']) => Provider, set: KeySet) {
    this.#keys = keys;
    this.#createProvider = createProvider;
    this.#active = this.#build(set);
  }

  static async start(keys: SigningKeys, createProvider: (keys: KeySet['keys']) => Provider): Promise<RunningEngine> {
    return new RunningEngine(keys, createProvider, await keys.current());
  }

  /** The current provider, for the pages, which do not sign anything. */
  get provider(): Provider {
    return this.#active.provider;
  }

  readonly handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const set = await this.#keys.current();
    if (set !== this.#active.set) this.#active = this.#build(set);
    try {
      await this.#active.callback(req, res);
    } finally {
      letGoWhenSent(req, res);
    }
  };

  #build(set: KeySet) {
    const provider = this.#createProvider(set.keys);
    provider.use(noteContext);
    return { set, provider, callback: provider.callback() };
  }
}
