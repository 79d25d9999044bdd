import type { BrowserSignIn } from '../browser/browser-sign-in.ts';

export type SessionState = {
  /** `loading` until the browser has read its stored tokens, and during server-side rendering. */
  readonly status: 'loading' | 'signed-in' | 'signed-out';
  /** Error of the last sign-in or sign-out, such as an `AuthorizationError` with `access_denied`. */
  readonly error: unknown;
};

/** The state of a sign-in, in the form that `useSyncExternalStore` reads. */
export type SessionStore = {
  readonly getState: () => SessionState;
  readonly getServerState: () => SessionState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Completes a sign-in, and listens for later sign-ins and sign-outs. Returns a function that stops listening. */
  readonly start: (onReturn: (returnTo: string) => void) => () => void;
  /** These functions return promises that never reject: a failure is stored as `error` in the state. */
  readonly actions: {
    readonly signIn: (options?: { readonly returnTo?: string | undefined }) => Promise<void>;
    readonly signInWithPopup: () => Promise<void>;
    readonly signOut: () => Promise<void>;
  };
};

const initialState: SessionState = { status: 'loading', error: undefined };

export function createSessionStore(signIn: BrowserSignIn): SessionStore {
  const listeners = new Set<() => void>();
  let state = initialState;
  const update = (changes: Partial<SessionState>): void => {
    state = { ...state, ...changes };
    listeners.forEach((listener) => listener());
  };
  const refreshStatus = async (): Promise<void> => update({ status: (await signIn.signedIn()) ? 'signed-in' : 'signed-out' });
  const attempt = async (action: () => Promise<unknown>): Promise<void> => {
    if (state.error !== undefined) update({ error: undefined });
    await action().catch((error: unknown) => update({ error }));
  };
  return {
    getState: () => state,
    getServerState: () => initialState,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start(onReturn) {
      const removeListener = signIn.onChange(() => void attempt(refreshStatus));
      void attempt(async () => {
        try {
          const completed = await signIn.complete();
          if (completed) onReturn(completed.returnTo);
        } finally {
          await refreshStatus();
        }
      });
      return removeListener;
    },
    actions: {
      signIn: (options) => attempt(() => signIn.redirect(options)),
      signInWithPopup: () => attempt(() => signIn.popup()),
      signOut: () => attempt(() => signIn.signOut()),
    },
  };
}
