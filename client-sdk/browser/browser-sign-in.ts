import { beginAuthorization, completeAuthorization, revoke, type AuthorizationRequest } from '../auth/authorization-code.ts';
import { discover, type AuthorizationServer, type AuthorizationServerOptions } from '../auth/authorization-server-metadata.ts';
import { newProofKey, type ProofKey } from '../auth/dpop-key.ts';
import { refreshingTokens } from '../auth/refreshing-token-source.ts';
import { singleFlight } from '../auth/single-flight.ts';
import type { TokenSource } from '../core/token-source.ts';
import { browserStore, type BrowserStore } from './indexeddb-token-store.ts';
import { kept } from './indexeddb-values.ts';
import { handOver, openPopup, popupCallback } from './popup.ts';

export type BrowserSignInOptions = Omit<AuthorizationServerOptions, 'proofKey' | 'signal'> & {
  /** The authorization server; of this product, the same origin as the API. */
  readonly issuer: string;
  readonly clientId: string;
  /** A page of this origin that calls `complete()`; registered with the application, character by character. */
  readonly redirectUri: string;
  /** With `offline_access` the sign-in outlives its first token. */
  readonly scopes: readonly string[];
  /** Whether tokens are bound to a key that never leaves this browser; they are unless this is `false`. */
  readonly dpop?: boolean | undefined;
};

export type BrowserSignIn = {
  /** For `createClient`. Renews tokens once for all tabs. */
  readonly auth: TokenSource;
  signedIn(): Promise<boolean>;
  /** Leaves the page for the sign-in, and comes back to `redirectUri`. */
  redirect(options?: { readonly returnTo?: string | undefined }): Promise<never>;
  /** Signs in beside the page. Call it in the handler of a click. Fails with `AuthorizationError` `popup_blocked` or `popup_closed`. */
  popup(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * Ends a sign-in that has come back to this page; call it whenever the page loads. Gives where the person was, or `undefined`
   * when this is no way back. In a popup it closes the window. Fails with `AuthorizationError`, such as `access_denied`.
   */
  complete(): Promise<{ readonly returnTo: string } | undefined>;
  /** In all tabs, at once; then tells the authorization server, and fails when that cannot be told. */
  signOut(): Promise<void>;
  /** Calls `listener` when somebody signs in or out, in whichever tab. Gives what ends that. */
  onChange(listener: () => void): () => void;
};

type Pending = {
  readonly request: AuthorizationRequest;
  readonly proofKey: ProofKey | undefined;
  /** Not there for a popup. */
  readonly returnTo: string | undefined;
  readonly begunAt: number;
};

/** Sign-in of people in a browser: authorization code with PKCE, tokens bound to a key of this browser. */
export function browserSignIn(options: BrowserSignInOptions): BrowserSignIn {
  const store = browserStore(`mandate ${options.issuer} ${options.clientId}`);
  const found = lasting(() => discover(options.issuer, options));
  return {
    auth: refreshingTokens({ ...options, store, ...(options.dpop !== false && { proofKey: () => store.proofKey() }) }),
    signedIn: async () => (await store.read()) !== undefined,
    async redirect({ returnTo = location.href } = {}) {
      const { request } = await begin(options, found, returnTo);
      location.assign(request.url);
      return new Promise(() => undefined);
    },
    async popup({ signal } = {}) {
      const popup = openPopup();
      try {
        const pending = await begin(options, found, undefined);
        popup.location.href = pending.request.url;
        await finish(store, found, pending, await popupCallback(popup, pending.request.state, signal));
      } catch (error) {
        popup.close();
        throw error;
      }
    },
    complete: singleFlight(() => complete(store, found)),
    signOut: () => signOut(store, found, options.clientId),
    onChange: (listener) => store.onChange(listener),
  };
}

type Found = () => Promise<AuthorizationServer>;

/** Keeps what `work` gave; what failed is tried again. */
function lasting<T>(work: () => Promise<T>): () => Promise<T> {
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

async function begin({ dpop, ...options }: BrowserSignInOptions, found: Found, returnTo: string | undefined): Promise<Pending> {
  const proofKey = dpop === false ? undefined : await newProofKey();
  const request = await beginAuthorization({ ...(await found()), proofKey }, options);
  const { url, state, codeVerifier, clientId, redirectUri, scopes } = request;
  const pending = { request: { url, state, codeVerifier, clientId, redirectUri, scopes }, proofKey, returnTo, begunAt: Date.now() };
  await forgetAbandoned();
  await kept.write(pendingName(state), pending);
  return pending;
}

async function forgetAbandoned(): Promise<void> {
  const names = (await kept.names()).filter((name) => typeof name === 'string' && name.startsWith(pendingPrefix));
  for (const name of names) {
    const pending = await kept.read<Pending>(name);
    if (pending && pending.begunAt < Date.now() - pendingMaxMs) await kept.remove(name);
  }
}

async function complete(store: BrowserStore, found: Found): Promise<{ readonly returnTo: string } | undefined> {
  const url = new URL(location.href);
  const state = url.searchParams.get('state');
  const pending = state === null ? undefined : await kept.read<Pending>(pendingName(state));
  if (!pending) return undefined;
  // Out of the history and of what the page may tell others, whatever comes of it.
  history.replaceState(history.state, '', url.pathname);
  if (pending.returnTo === undefined && (await handOver(pending.request.state, url.href))) {
    window.close();
    return new Promise(() => undefined);
  }
  await finish(store, found, pending, url.href);
  return { returnTo: pending.returnTo ?? url.origin };
}

async function finish(store: BrowserStore, found: Found, { request, proofKey }: Pending, url: string): Promise<void> {
  await kept.remove(pendingName(request.state));
  const tokens = await completeAuthorization({ ...(await found()), proofKey }, request, new URL(url));
  await store.exclusively(() => store.replace({ tokens, proofKey }));
}

async function signOut(store: BrowserStore, found: Found, clientId: string): Promise<void> {
  const tokens = await store.exclusively(async () => {
    const before = await store.read();
    await store.replace(undefined);
    return before;
  });
  if (tokens) await revoke(await found(), clientId, tokens.refreshToken ?? tokens.accessToken);
}
