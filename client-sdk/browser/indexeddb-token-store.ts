import type { Tokens } from '../auth/authorization-server-metadata.ts';
import type { ProofKey } from '../auth/dpop-key.ts';
import type { TokenStore } from '../auth/token-store.ts';
import { indexedDbKeyValueStore } from './indexeddb-key-value-store.ts';

/** Result of a sign-in: the tokens, and the key that they are bound to. */
export type StoredSignIn = { readonly tokens: Tokens; readonly proofKey: ProofKey | undefined };

export type BrowserTokenStore = TokenStore & {
  proofKey(): Promise<ProofKey | undefined>;
  /** Replaces the stored sign-in; `undefined` removes the stored sign-in. Must be called within `exclusively`. */
  replace(signedIn: StoredSignIn | undefined): Promise<void>;
  /** Calls `listener` when the user signs in or out in any tab. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
};

/** Whether this code runs in a browser. During server-side rendering, no user is signed in. */
export const isBrowser = 'indexedDB' in globalThis;

/** Creates a token store in IndexedDB. All tabs of this origin share the store, so one tab can refresh the tokens for all tabs. */
export function createBrowserTokenStore(name: string): BrowserTokenStore {
  const read = async (): Promise<StoredSignIn | undefined> => (isBrowser ? indexedDbKeyValueStore.read(name) : undefined);
  const listeners = new Set<() => void>();
  const notify = (): void => listeners.forEach((listener) => listener());
  const replace = async (signedIn: StoredSignIn | undefined): Promise<void> => {
    await (signedIn ? indexedDbKeyValueStore.write(name, signedIn) : indexedDbKeyValueStore.remove(name));
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
      // If there is no refresh token, the user is signed out.
      if (before && tokens.refreshToken !== undefined) await indexedDbKeyValueStore.write(name, { ...before, tokens });
      else await replace(undefined);
    },
    // If the tab is closed, the browser releases the lock, even while `work` is running.
    exclusively: <T>(work: () => Promise<T>): Promise<T> => (isBrowser ? navigator.locks.request(name, work) : work()),
    onChange(listener) {
      if (!isBrowser) return () => undefined;
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
