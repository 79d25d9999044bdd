import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { letGoWhenSent, noteContext } from './release-request-context.ts';
import type { KeySet, SigningKeys } from '../signing-keys/signing-key-set.ts';

/**
 * The library takes its keys once, so other keys mean another engine. Requests that have begun go on with the one they began
 * with; what they share lies in the database.
 */
export class RunningEngine {
  readonly #keys: SigningKeys;
  readonly #create: (keys: KeySet['keys']) => Provider;
  #now: { readonly set: KeySet; readonly provider: Provider; readonly callback: ReturnType<Provider['callback']> };

  private constructor(keys: SigningKeys, create: (keys: KeySet['keys']) => Provider, set: KeySet) {
    this.#keys = keys;
    this.#create = create;
    this.#now = this.#engineWith(set);
  }

  static async start(keys: SigningKeys, create: (keys: KeySet['keys']) => Provider): Promise<RunningEngine> {
    return new RunningEngine(keys, create, await keys.current());
  }

  /** For the pages, which sign nothing. */
  get provider(): Provider {
    return this.#now.provider;
  }

  readonly handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const set = await this.#keys.current();
    if (set !== this.#now.set) this.#now = this.#engineWith(set);
    try {
      await this.#now.callback(req, res);
    } finally {
      letGoWhenSent(req, res);
    }
  };

  #engineWith(set: KeySet) {
    const provider = this.#create(set.keys);
    provider.use(noteContext);
    return { set, provider, callback: provider.callback() };
  }
}
