import type { Tokens } from '../auth/authorization-server-metadata.ts';
import type { ProofKey } from '../auth/dpop-key.ts';
import type { TokenStore } from '../auth/token-store.ts';
import { kept } from './indexeddb-values.ts';

/** What a sign-in leaves behind: the tokens, and the key that they are bound to. */
export type SignedIn = { readonly tokens: Tokens; readonly proofKey: ProofKey | undefined };

export type BrowserStore = TokenStore & {
  proofKey(): Promise<ProofKey | undefined>;
  /** `undefined` forgets who is signed in. Call it within `exclusively`. */
  replace(signedIn: SignedIn | undefined): Promise<void>;
  /** Calls `listener` when somebody signs in or out, in whichever page. Gives what ends that. */
  onChange(listener: () => void): () => void;
};

/** Shared by all pages of this origin: one of them renews the tokens for all. */
export function browserStore(name: string): BrowserStore {
  const read = (): Promise<SignedIn | undefined> => kept.read(name);
  const listeners = new Set<() => void>();
  const told = (): void => listeners.forEach((listener) => listener());
  const replace = async (signedIn: SignedIn | undefined): Promise<void> => {
    await (signedIn ? kept.write(name, signedIn) : kept.remove(name));
    told();
    const channel = new BroadcastChannel(name);
    channel.postMessage('changed');
    channel.close();
  };
  return {
    read: async () => (await read())?.tokens,
    proofKey: async () => (await read())?.proofKey,
    replace,
    async write(tokens) {
      const before = await read();
      // Without a refresh token left, nobody is signed in any longer.
      if (before && tokens.refreshToken !== undefined) await kept.write(name, { ...before, tokens });
      else await replace(undefined);
    },
    // The browser gives the lock to the next page when this one is closed, whatever it was doing.
    exclusively: <T>(work: () => Promise<T>): Promise<T> => navigator.locks.request(name, work),
    onChange(listener) {
      const channel = new BroadcastChannel(name);
      channel.addEventListener('message', listener);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        channel.close();
      };
    },
  };
}
