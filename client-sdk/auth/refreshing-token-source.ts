import {
  discover,
  isAccessTokenFresh,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type ClientAuthenticationOptions,
} from './authorization-server-metadata.ts';
import { AuthorizationError, SignInRequiredError } from '../core/authorization-errors.ts';
import { createTokenSourceProofMethods } from './dpop-key.ts';
import { singleFlight } from './single-flight.ts';
import { requestTokens } from './token-endpoint.ts';
import type { TokenSource } from '../core/token-source.ts';
import type { TokenStore } from './token-store.ts';

export type RefreshOptions = Omit<AuthorizationServerOptions, 'signal'> &
  ClientAuthenticationOptions & {
    /** Issuer URL of the authorization server: the origin of the API. */
    readonly issuer: string;
    readonly clientId: string;
    readonly store: TokenStore;
  };

/**
 * Creates a token source for a signed-in user. An access token is refreshed shortly before it expires and, at most once per call, when the
 * API rejects it.
 */
export function refreshingTokens(options: RefreshOptions): TokenSource {
  let server: AuthorizationServer | undefined;
  return createRefreshingTokenSource(options, async () => (server ??= await discover(options.issuer, options)));
}

/** Creates the same token source as `refreshingTokens`, but with metadata that several token sources can share. */
export function createRefreshingTokenSource(options: RefreshOptions, discoverServer: DiscoverServer): TokenSource {
  const { store, proofKey } = options;
  const refresh = singleFlight(() => store.exclusively(() => refreshOnce(options, discoverServer, stale)));
  // The access token to replace. Concurrent callers share this variable, because they share one refresh.
  let stale: string | undefined;
  const refreshInsteadOf = async (token: string | undefined): Promise<string> => {
    stale = token;
    return refresh();
  };
  return {
    async accessToken() {
      const tokens = await store.read();
      return tokens && isAccessTokenFresh(tokens) ? tokens.accessToken : refreshInsteadOf(tokens?.accessToken);
    },
    async replacement(rejected) {
      const tokens = await store.read();
      return tokens && tokens.accessToken !== rejected ? tokens.accessToken : refreshInsteadOf(rejected);
    },
    ...createTokenSourceProofMethods(proofKey),
  };
}

type DiscoverServer = () => Promise<AuthorizationServer>;

async function refreshOnce(options: RefreshOptions, discoverServer: DiscoverServer, stale: string | undefined): Promise<string> {
  const { store } = options;
  const tokens = await store.read();
  // Another caller, tab or process has refreshed the tokens in the meantime.
  if (tokens && tokens.accessToken !== stale && isAccessTokenFresh(tokens)) return tokens.accessToken;
  if (tokens?.refreshToken === undefined) throw new SignInRequiredError('No user is signed in');
  try {
    const renewed = await requestTokens(await discoverServer(), options, 'refresh_token', { refresh_token: tokens.refreshToken });
    // If the response has no refresh token, the previous one remains valid (RFC 6749 section 6).
    const next = {
      ...renewed,
      refreshToken: renewed.refreshToken ?? tokens.refreshToken,
      scopes: renewed.scopes.length > 0 ? renewed.scopes : tokens.scopes,
    };
    await store.write(next);
    return next.accessToken;
  } catch (error) {
    if (!(error instanceof AuthorizationError && error.error === 'invalid_grant')) throw error;
    const { refreshToken: _, ...rest } = tokens;
    await store.write(rest);
    throw new SignInRequiredError('The grant has expired or been revoked', { cause: error });
  }
}
