import { createContext, createElement, useContext, useEffect, useMemo, useSyncExternalStore, type ReactNode } from 'react';
import type { BrowserSignIn } from '../browser/browser-sign-in.ts';
import type { Client } from '../client/client.ts';
import { createSessionStore, type SessionState, type SessionStore } from './session-store.ts';

export type { SessionState } from './session-store.ts';

export type MandateProviderProps = {
  readonly client: Client;
  readonly signIn: BrowserSignIn;
  /**
   * Called after a sign-in that used a redirect, with the URL that the user came from (default: shows this URL in the address bar). If the
   * application has a router, use the router to navigate to this URL.
   */
  readonly onReturn?: ((returnTo: string) => void) | undefined;
  readonly children?: ReactNode;
};

export type Session = SessionState & {
  readonly client: Client;
  /** Navigates to the sign-in page. */
  readonly signIn: (options?: { readonly returnTo?: string | undefined }) => Promise<void>;
  /** Signs in with a popup. Call this function in a click handler. */
  readonly signInWithPopup: () => Promise<void>;
  readonly signOut: () => Promise<void>;
};

type ContextValue = { readonly client: Client; readonly store: SessionStore };

const MandateContext = createContext<ContextValue | undefined>(undefined);

/** Provides the client and the session to `useSession`. Completes the sign-in if the page was loaded by a sign-in redirect. */
export function MandateProvider({ client, signIn, onReturn = showUrl, children }: MandateProviderProps): ReactNode {
  const value = useMemo(() => ({ client, store: createSessionStore(signIn) }), [client, signIn]);
  // A new `onReturn` function must not restart the session store.
  useEffect(() => value.store.start(onReturn), [value.store]);
  return createElement(MandateContext.Provider, { value }, children);
}

const showUrl = (url: string): void => history.replaceState(history.state, '', url);

/** Returns the session, and rerenders the component when the user signs in or out in any tab. */
export function useSession(): Session {
  const context = useContext(MandateContext);
  if (!context) throw new Error('useSession must be called in a component inside MandateProvider');
  const { client, store } = context;
  const state = useSyncExternalStore(store.subscribe, store.getState, store.getServerState);
  return useMemo(() => ({ ...state, ...store.actions, client }), [state, store, client]);
}
