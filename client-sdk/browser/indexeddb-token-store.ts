import type { Tokens } from '../auth/authorization-server-metadata.ts';
import type { ProofKey } from '../auth/dpop-key.ts';
import type { TokenStore } from '../auth/token-store.ts';
import { kept } from './indexeddb-values.ts';

/** Result of a sign-in: the tokens, and the key that they are bound to. */
export type SignedIn = { readonly tokens: Tokens; readonly proofKey: ProofKey | undefined };

export type BrowserStore = TokenStore & {
  proofKey(): Promise<ProofKey | undefined>;
  /** Replaces the stored sign-in; `undefined` removes it. Call it within `exclusively`. */
  replace(signedIn: SignedIn | undefined): Promise<void>;
  /** Calls `listener` when the user signs in or out in any tab. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
};

/** Creates a token store in IndexedDB, which all tabs of this origin share, so that one tab refreshes the tokens for all. */
export function browserStore(name: string): BrowserStore {
  const read = (): Promise<SignedIn | undefined> => kept.read(name);
  const listeners = new Set<() => void>();
  const notify = (): void => listeners.forEach((listener) => listener());
  const replace = async (signedIn: SignedIn | undefined): Promise<void> => {
    await (signedIn ? kept.write(name, signedIn) : kept.remove(name));
    notify();
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
      // Without a refresh token the user is signed out.
      if (before && tokens.refreshToken !== undefined) await kept.write(name, { ...before, tokens });
      else await replace(undefined);
    },
    // If the tab is closed, the browser releases the lock, even during `work`.
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
