import { beginAuthorization, completeAuthorization, revoke, type AuthorizationRequest } from '../auth/authorization-code.ts';
import { discover, type AuthorizationServer, type AuthorizationServerOptions } from '../auth/authorization-server-metadata.ts';
import { newProofKey, type ProofKey } from '../auth/dpop-key.ts';
import { refreshingTokens } from '../auth/refreshing-token-source.ts';
import { singleFlight } from '../auth/single-flight.ts';
import type { TokenSource } from '../core/token-source.ts';
import { createBrowserTokenStore, isBrowser, type BrowserTokenStore } from './indexeddb-token-store.ts';
import { indexedDbKeyValueStore } from './indexeddb-key-value-store.ts';
import { sendCallbackUrlToOpener, openEmptySignInPopup, waitForPopupCallbackUrl } from './sign-in-popup.ts';

export type BrowserSignInOptions = Omit<AuthorizationServerOptions, 'proofKey' | 'signal'> & {
  /** Issuer URL of the authorization server: the origin of the API. */
  readonly issuer: string;
  readonly clientId: string;
  /** URL of a page on this origin that calls `complete()`. Must exactly match a redirect URI registered for the application. */
  readonly redirectUri: string;
  /** Requested scopes. With `offline_access`, the user stays signed in after the first access token has expired. */
  readonly scopes: readonly string[];
  /** Maximum age of the user's sign-in, in seconds (default: no maximum). If the sign-in is older, the user has to sign in again. */
  readonly maxAge?: number | undefined;
  /** Whether the tokens are bound to a key that cannot be exported from this browser (default: true). */
  readonly dpop?: boolean | undefined;
};

export type BrowserSignIn = {
  /** Token source for `createClient`. Tokens are refreshed once for all tabs. */
  readonly auth: TokenSource;
  /** Returns whether a user is signed in; `false` during server-side rendering. */
  signedIn(): Promise<boolean>;
  /** Navigates to the sign-in page, which redirects to `redirectUri` after the sign-in. */
  redirect(options?: { readonly returnTo?: string | undefined }): Promise<never>;
  /**
   * Signs in with a popup. Call this function in a click handler. Fails with an `AuthorizationError` whose `error` is, for example,
   * `popup_blocked` or `popup_closed`.
   */
  popup(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * Completes the sign-in if this page was loaded by a sign-in redirect. Call this function on every page load. Returns the URL of the page
   * to show next as `returnTo`. Returns `undefined` if no sign-in redirect loaded this page, and during server-side rendering. In a popup,
   * closes the window. Fails with an `AuthorizationError` whose `error` is, for example, `access_denied`.
   */
  complete(): Promise<{ readonly returnTo: string } | undefined>;
  /** Signs out in all tabs immediately, then revokes the tokens. Fails if the revocation fails. */
  signOut(): Promise<void>;
  /** Calls `listener` when the user signs in or out in any tab. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
};

type Pending = {
  readonly request: AuthorizationRequest;
  readonly proofKey: ProofKey | undefined;
  /** URL to return to after the sign-in; `undefined` for a popup. */
  readonly returnTo: string | undefined;
  readonly begunAt: number;
};

/**
 * Creates the sign-in for a browser application. The sign-in uses the authorization code grant with PKCE and, by default, binds the tokens
 * to a key in this browser.
 */
export function browserSignIn(options: BrowserSignInOptions): BrowserSignIn {
  const store = createBrowserTokenStore(`mandate ${options.issuer} ${options.clientId}`);
  const discoverServer = memoizeSuccess(() => discover(options.issuer, options));
  return {
    auth: refreshingTokens({ ...options, store, ...(options.dpop !== false && { proofKey: () => store.proofKey() }) }),
    signedIn: async () => (await store.read()) !== undefined,
    async redirect({ returnTo = location.href } = {}) {
      const { request } = await begin(options, discoverServer, returnTo);
      location.assign(request.url);
      return new Promise(() => undefined);
    },
    async popup({ signal } = {}) {
      const popup = openEmptySignInPopup();
      try {
        const pending = await begin(options, discoverServer, undefined);
        popup.location.href = pending.request.url;
        await finish(store, discoverServer, pending, await waitForPopupCallbackUrl(popup, pending.request.state, signal));
      } catch (error) {
        popup.close();
        throw error;
      }
    },
    complete: singleFlight(() => complete(store, discoverServer)),
    signOut: () => signOut(store, discoverServer, options.clientId),
    onChange: (listener) => store.onChange(listener),
  };
}

type DiscoverServer = () => Promise<AuthorizationServer>;

/** Caches the result of `work`. A failure is not cached, so that the next call retries. */
function memoizeSuccess<T>(work: () => Promise<T>): () => Promise<T> {
  let outcome: Promise<T> | undefined;
  return () =>
    (outcome ??= work().catch((error: unknown) => {
      outcome = undefined;
      throw error;
    }));
}

const pendingName = (state: string): string => `${pendingPrefix}${state}`;
const pendingPrefix = 'sign-in ';
const pendingMaxMs = 3_600_000;

async function begin(
  { dpop, ...options }: BrowserSignInOptions,
  discoverServer: DiscoverServer,
  returnTo: string | undefined,
): Promise<Pending> {
  const proofKey = dpop === false ? undefined : await newProofKey();
  const request = await beginAuthorization({ ...(await discoverServer()), proofKey }, options);
  const { url, state, codeVerifier, clientId, redirectUri, scopes } = request;
  const pending = { request: { url, state, codeVerifier, clientId, redirectUri, scopes }, proofKey, returnTo, begunAt: Date.now() };
  await removeAbandonedSignIns();
  await indexedDbKeyValueStore.write(pendingName(state), pending);
  return pending;
}

async function removeAbandonedSignIns(): Promise<void> {
  const names = (await indexedDbKeyValueStore.names()).filter((name) => typeof name === 'string' && name.startsWith(pendingPrefix));
  for (const name of names) {
    const pending = await indexedDbKeyValueStore.read<Pending>(name);
    if (pending && pending.begunAt < Date.now() - pendingMaxMs) await indexedDbKeyValueStore.remove(name);
  }
}

async function complete(store: BrowserTokenStore, discoverServer: DiscoverServer): Promise<{ readonly returnTo: string } | undefined> {
  if (!isBrowser) return undefined;
  const url = new URL(location.href);
  const state = url.searchParams.get('state');
  const pending = state === null ? undefined : await indexedDbKeyValueStore.read<Pending>(pendingName(state));
  if (!pending) return undefined;
  // Removes the code from the browser history and from referrers, even if the sign-in fails.
  history.replaceState(history.state, '', url.pathname);
  if (pending.returnTo === undefined && (await sendCallbackUrlToOpener(pending.request.state, url.href))) {
    window.close();
    return new Promise(() => undefined);
  }
  await finish(store, discoverServer, pending, url.href);
  return { returnTo: pending.returnTo ?? url.origin };
}

async function finish(
  store: BrowserTokenStore,
  discoverServer: DiscoverServer,
  { request, proofKey }: Pending,
  url: string,
): Promise<void> {
  await indexedDbKeyValueStore.remove(pendingName(request.state));
  const tokens = await completeAuthorization({ ...(await discoverServer()), proofKey }, request, new URL(url));
  await store.exclusively(() => store.replace({ tokens, proofKey }));
}

async function signOut(store: BrowserTokenStore, discoverServer: DiscoverServer, clientId: string): Promise<void> {
  const tokens = await store.exclusively(async () => {
    const before = await store.read();
    await store.replace(undefined);
    return before;
  });
  if (tokens) await revoke(await discoverServer(), clientId, tokens.refreshToken ?? tokens.accessToken);
}
