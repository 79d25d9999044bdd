import { beginAuthorization, completeAuthorization, revoke } from '../auth/authorization-code.ts';
import {
  discover,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type ClientAuthentication,
  type Tokens,
} from '../auth/authorization-server-metadata.ts';
import { AuthorizationError, SignInRequiredError } from '../core/authorization-errors.ts';
import type { TokenSource } from '../core/token-source.ts';
import { createCookieSealer } from './cookie-sealer.ts';
import { isCrossSiteStateChangingRequest } from './is-cross-site-state-changing-request.ts';
import { copyResponseWithCookiesAndNoStore } from './copy-response-with-cookies-and-no-store.ts';
import { createSealedCookieCodec, type SealedCookieCodec } from './sealed-cookie-codec.ts';
import { createSessionCache, type CachedSession, type SessionCache } from './session-cache.ts';

export type ServerSignInOptions = Omit<AuthorizationServerOptions, 'signal'> & {
  /** Issuer URL of the authorization server: the origin of the API. */
  readonly issuer: string;
  readonly clientId: string;
  /** Secret of a confidential application that does not authenticate with a key. */
  readonly clientSecret?: string | undefined;
  /** Authentication of an application that has no secret, such as `privateKeyJwt(...)` from `@mandate/client-sdk/private-key-jwt`. */
  readonly clientAuthentication?: ClientAuthentication | undefined;
  /** URL whose handler calls `completeSignIn`. Must exactly match a redirect URI registered for the application. */
  readonly redirectUri: string;
  /** Requested scopes. With `offline_access`, the user stays signed in after the first access token has expired. */
  readonly scopes: readonly string[];
  /**
   * Secrets of at least 32 characters that encrypt the cookies. The first secret encrypts new cookies; all secrets can decrypt cookies. To
   * replace a secret, put the new one first, and remove the old one after the sessions encrypted with it have expired.
   */
  readonly cookieSecrets: readonly string[];
  /** Cookie name (default: `mandate-session`). If `redirectUri` is an https URL, the name gets the prefix `__Host-`. */
  readonly cookieName?: string | undefined;
  /** Maximum lifetime of a session (default: 30 days). */
  readonly sessionMaxAgeSeconds?: number | undefined;
  /** Called if the tokens cannot be revoked during a sign-out. The session cookie is removed even if the revocation fails. */
  readonly onRevocationFailure?: ((error: unknown) => void) | undefined;
};

export type StartSignInOptions = {
  /**
   * URL or path of the application to return to (default: the `return_to` query parameter, or `/`). A URL with a different origin is
   * replaced with `/`.
   */
  readonly returnTo?: string | undefined;
  /** Requested scopes, for example to request a scope again that the user denied (default: the scopes of the application). */
  readonly scopes?: readonly string[] | undefined;
  /** Maximum age of the user's sign-in, in seconds. */
  readonly maxAge?: number | undefined;
};

/** The session of one request. */
export type ServerSession = {
  readonly signedIn: boolean;
  /** Scopes that the user granted. */
  readonly scopes: readonly string[];
  /** Token source for `createClient`. */
  readonly auth: TokenSource;
  /**
   * Returns the response with the session cookie if the cookie has changed, for example after a refresh; otherwise, returns the response
   * unchanged.
   */
  addCookie(response: Response): Promise<Response>;
};

export type ServerSignIn = {
  /** Returns the redirect to the sign-in page. */
  startSignIn(request: Request, options?: StartSignInOptions): Promise<Response>;
  /**
   * Completes the sign-in for a request to `redirectUri`, and returns the redirect to the page that the user came from. Throws an
   * `AuthorizationError` with the code `access_denied` if the user refused, or `sign_in_expired` if the sign-in was not started in this
   * browser or has expired.
   */
  completeSignIn(request: Request): Promise<Response>;
  /** Reads the session cookie, and refreshes the access token if it is about to expire. */
  openSession(request: Request): Promise<ServerSession>;
  /** Revokes the tokens, removes the cookie and redirects to `returnTo` (default: `/`). Accepts only same-origin POST requests. */
  signOut(request: Request, options?: { readonly returnTo?: string | undefined }): Promise<Response>;
  /**
   * Returns a 403 response if the request changes state and may have been sent by another site, and `undefined` for any other request. Call
   * this function before handling a state-changing request.
   */
  rejectCrossSiteRequest(request: Request): Response | undefined;
};

type PendingSignIn = { readonly state: string; readonly codeVerifier: string; readonly returnTo: string };

type Context = {
  readonly options: ServerSignInOptions;
  readonly origin: string;
  readonly discoverServer: () => Promise<AuthorizationServer>;
  readonly sessions: SessionCache;
  readonly sessionCookie: SealedCookieCodec;
  readonly pendingCookie: SealedCookieCodec;
};

const pendingMaxMs = 3_600_000;
/** Maximum number of pending sign-ins in different tabs. Without this limit, the cookie could become too large. */
const maxPending = 3;
const defaultSessionMaxAgeSeconds = 30 * 24 * 3600;

/**
 * Creates the sign-in functions for an application that renders its pages on a server (backend for frontend). The tokens are stored in an
 * encrypted cookie that scripts cannot read. The functions use `Request` and `Response`, so they work with every framework that is based on
 * `fetch`.
 */
export function createServerSignIn(options: ServerSignInOptions): ServerSignIn {
  const { origin } = new URL(options.redirectUri);
  let server: AuthorizationServer | undefined;
  const discoverServer = async (): Promise<AuthorizationServer> => (server ??= await discover(options.issuer, options));
  const sealer = createCookieSealer(options.cookieSecrets);
  const cookieName = options.cookieName ?? 'mandate-session';
  const context: Context = {
    options,
    origin,
    discoverServer,
    sessions: createSessionCache(options, discoverServer),
    sessionCookie: createSealedCookieCodec(sealer, cookieName, origin),
    pendingCookie: createSealedCookieCodec(sealer, `${cookieName}-sign-in`, origin),
  };
  return {
    startSignIn: (request, startOptions) => startSignIn(context, request, startOptions),
    completeSignIn: (request) => completeSignIn(context, request),
    openSession: (request) => openSession(context, request),
    signOut: (request, { returnTo } = {}) => signOut(context, request, returnTo),
    rejectCrossSiteRequest: (request) => rejectCrossSiteRequest(context, request),
  };
}

const maxReturnUrlLength = 500;

/**
 * Returns the URL if it belongs to the application. Any other URL is replaced with the application's start page, so that an attacker cannot
 * redirect users to another site. A URL that is too long for a cookie is also replaced with the start page.
 */
function resolveReturnUrl(origin: string, returnTo: string): string {
  const url = URL.canParse(returnTo, origin) ? new URL(returnTo, origin) : undefined;
  return url?.origin === origin && url.href.length <= maxReturnUrlLength ? url.href : `${origin}/`;
}

const redirectTo = (url: string): Response => new Response(null, { status: 303, headers: { location: url } });

async function readPendingSignIns({ pendingCookie }: Context, request: Request): Promise<PendingSignIn[]> {
  const cookie = await pendingCookie.read(request);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the cookie is authenticated
  return (cookie?.value ?? []) as PendingSignIn[];
}

const formatPendingCookie = ({ pendingCookie }: Context, pending: readonly PendingSignIn[]): Promise<string> =>
  pendingCookie.format(pending.length > 0 ? { value: pending, expiresAt: Date.now() + pendingMaxMs } : undefined);

async function startSignIn(context: Context, request: Request, options: StartSignInOptions = {}): Promise<Response> {
  const { clientId, redirectUri, scopes } = context.options;
  const { returnTo = new URL(request.url).searchParams.get('return_to') ?? '/', maxAge } = options;
  const authorization = { clientId, redirectUri, scopes: options.scopes ?? scopes, maxAge };
  const { url, state, codeVerifier } = await beginAuthorization(await context.discoverServer(), authorization);
  const pending = [{ state, codeVerifier, returnTo: resolveReturnUrl(context.origin, returnTo) }];
  pending.push(...(await readPendingSignIns(context, request)).slice(0, maxPending - 1));
  return copyResponseWithCookiesAndNoStore(redirectTo(url), [await formatPendingCookie(context, pending)]);
}

async function completeSignIn(context: Context, request: Request): Promise<Response> {
  const { clientId, clientSecret, clientAuthentication, redirectUri, scopes } = context.options;
  const { sessionMaxAgeSeconds = defaultSessionMaxAgeSeconds } = context.options;
  // Behind a proxy, the URL of the request can differ from the public URL of the application.
  const callbackUrl = new URL(redirectUri);
  callbackUrl.search = new URL(request.url).search;
  const pending = await readPendingSignIns(context, request);
  const current = pending.find(({ state }) => state === callbackUrl.searchParams.get('state'));
  if (!current) {
    throw new AuthorizationError('sign_in_expired', 'This sign-in has expired or was started in another browser. Sign in again.');
  }
  const { state, codeVerifier, returnTo } = current;
  const authorization = { clientId, clientSecret, clientAuthentication, redirectUri, scopes, state, codeVerifier };
  const tokens = await completeAuthorization(await context.discoverServer(), authorization, callbackUrl);
  return copyResponseWithCookiesAndNoStore(redirectTo(returnTo), [
    await context.sessionCookie.format({ value: tokens, expiresAt: Date.now() + sessionMaxAgeSeconds * 1000 }),
    await formatPendingCookie(
      context,
      pending.filter((other) => other !== current),
    ),
  ]);
}

const noSession: ServerSession = {
  signedIn: false,
  scopes: [],
  auth: {
    accessToken: async () => {
      throw new SignInRequiredError('No user is signed in');
    },
  },
  addCookie: async (response) => response,
};

async function openSession(context: Context, request: Request): Promise<ServerSession> {
  const cookie = await context.sessionCookie.read(request);
  if (!cookie) return noSession;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the cookie is authenticated
  const storedTokens = cookie.value as Tokens;
  const session = context.sessions.get(storedTokens);
  const tokens = await readValidTokens(session, storedTokens);
  return {
    signedIn: tokens !== undefined,
    scopes: tokens?.scopes ?? [],
    auth: session.auth,
    async addCookie(response) {
      // The API may have rejected the access token since the session was opened.
      const latestTokens = await readValidTokens(session, storedTokens);
      if (latestTokens?.accessToken === storedTokens.accessToken) return response;
      return copyResponseWithCookiesAndNoStore(response, [
        await context.sessionCookie.format(latestTokens && { ...cookie, value: latestTokens }),
      ]);
    },
  };
}

/** Refreshes the access token if needed, and returns the tokens; `undefined` if the grant has expired or been revoked. */
async function readValidTokens({ auth, store }: CachedSession, storedTokens: Tokens): Promise<Tokens | undefined> {
  const isRefused = await auth.accessToken().then(
    () => false,
    // If the server is unavailable, the user stays signed in.
    (error: unknown) => error instanceof SignInRequiredError,
  );
  const tokens = await store.read();
  // If the server refuses a refresh, the client removes the refresh token.
  const isRevoked = storedTokens.refreshToken !== undefined && tokens?.refreshToken === undefined;
  return isRefused || isRevoked ? undefined : tokens;
}

async function signOut(context: Context, request: Request, returnTo = '/'): Promise<Response> {
  if (request.method !== 'POST') return new Response('Sign out with a POST request.', { status: 405, headers: { allow: 'POST' } });
  const rejection = rejectCrossSiteRequest(context, request);
  if (rejection) return rejection;
  const cookie = await context.sessionCookie.read(request);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the cookie is authenticated
  const tokens = cookie?.value as Tokens | undefined;
  if (tokens) await revokeSession(context, context.sessions.get(tokens)).catch(context.options.onRevocationFailure ?? ignoreFailure);
  return copyResponseWithCookiesAndNoStore(redirectTo(resolveReturnUrl(context.origin, returnTo)), [
    await context.sessionCookie.format(undefined),
  ]);
}

const ignoreFailure = (): void => undefined;

async function revokeSession({ options, discoverServer }: Context, { store }: CachedSession): Promise<void> {
  const tokens = await store.read();
  if (tokens) await revoke(await discoverServer(), options, tokens.refreshToken ?? tokens.accessToken);
}

function rejectCrossSiteRequest({ origin }: Context, request: Request): Response | undefined {
  if (!isCrossSiteStateChangingRequest(request, origin)) return undefined;
  return new Response('This request came from a different site. Send it again from a page on this site.', { status: 403 });
}
