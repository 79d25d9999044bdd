import { discover, isFresh, type AuthorizationServer, type AuthorizationServerOptions } from './authorization-server-metadata.ts';
import { AuthorizationError, SignInRequiredError } from '../core/errors.ts';
import { proofWith } from './dpop-key.ts';
import { singleFlight } from './single-flight.ts';
import { requestTokens } from './token-endpoint.ts';
import type { TokenSource } from '../core/token-source.ts';
import type { TokenStore } from './token-store.ts';

export type RefreshOptions = Omit<AuthorizationServerOptions, 'signal'> & {
  /** The authorization server; of this product, the same origin as the API. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly store: TokenStore;
};

/** Tokens a person granted, renewed shortly before they expire and once when the API refuses one. */
export function refreshingTokens(options: RefreshOptions): TokenSource {
  const { issuer, store, proofKey } = options;
  let server: AuthorizationServer | undefined;
  const found = async (): Promise<AuthorizationServer> => (server ??= await discover(issuer, options));
  const refresh = singleFlight(() => store.exclusively(() => refreshOnce(options, found, stale)));
  // What the callers of one flight want to get rid of; the flight is shared, so it is too.
  let stale: string | undefined;
  const without = async (token: string | undefined): Promise<string> => {
    stale = token;
    return refresh();
  };
  return {
    async accessToken() {
      const tokens = await store.read();
      return tokens && isFresh(tokens) ? tokens.accessToken : without(tokens?.accessToken);
    },
    async replacement(refused) {
      const tokens = await store.read();
      return tokens && tokens.accessToken !== refused ? tokens.accessToken : without(refused);
    },
    ...(proofKey && { proof: (request) => proofWith(proofKey, request) }),
  };
}

type Found = () => Promise<AuthorizationServer>;

async function refreshOnce(options: RefreshOptions, found: Found, stale: string | undefined): Promise<string> {
  const { store } = options;
  const tokens = await store.read();
  // Somebody else has been here since.
  if (tokens && tokens.accessToken !== stale && isFresh(tokens)) return tokens.accessToken;
  if (tokens?.refreshToken === undefined) throw new SignInRequiredError('Nobody is signed in');
  try {
    const renewed = await requestTokens(await found(), options, 'refresh_token', { refresh_token: tokens.refreshToken });
    // An answer without a refresh token leaves the old one in force (RFC 6749 section 6).
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
    throw new SignInRequiredError('What was granted has ended', { cause: error });
  }
}
