import type { AuthorizationServer, Tokens } from '../auth/authorization-server-metadata.ts';
import { createRefreshingTokenSource, type RefreshOptions } from '../auth/refreshing-token-source.ts';
import { memoryStore, type TokenStore } from '../auth/token-store.ts';
import type { TokenSource } from '../core/token-source.ts';

/** The current tokens of a session. All requests with the same cookie share these tokens. */
export type CachedSession = { readonly store: TokenStore; readonly auth: TokenSource };

export type SessionCache = {
  /** Returns the session for the tokens in a cookie. If the cache does not contain the session, adds the session to the cache. */
  get(tokens: Tokens): CachedSession;
};

const maxSessions = 10_000;

/**
 * Creates an in-memory cache of the sessions whose cookies this process has received. Several requests can arrive with the same expired
 * access token, and a browser resends its previous cookie if it did not receive the response with the new one. Because a refresh token can
 * be used only once, these requests share one refresh and its result. If the cache contains too many sessions, it evicts the least recently
 * used ones.
 */
export function createSessionCache(
  options: Omit<RefreshOptions, 'store'>,
  discoverServer: () => Promise<AuthorizationServer>,
): SessionCache {
  const sessions = new Map<string, CachedSession & { expiresAt: number }>();
  return {
    get(tokens) {
      const key = tokens.refreshToken ?? tokens.accessToken;
      const known = sessions.get(key);
      sessions.delete(key);
      // Another process may have refreshed the access token without replacing the refresh token.
      const session = known && known.expiresAt >= tokens.expiresAt ? known : createSession(tokens);
      sessions.set(key, session);
      const [leastRecentlyUsed] = sessions.keys();
      if (sessions.size > maxSessions && leastRecentlyUsed !== undefined) sessions.delete(leastRecentlyUsed);
      return session;
    },
  };

  function createSession(tokens: Tokens): CachedSession & { expiresAt: number } {
    const memory = memoryStore(tokens);
    const write = async (next: Tokens): Promise<void> => {
      await memory.write(next);
      session.expiresAt = next.expiresAt;
      if (next.refreshToken !== undefined) sessions.set(next.refreshToken, session);
    };
    const store = { ...memory, write };
    const session = { store, auth: createRefreshingTokenSource({ ...options, store }, discoverServer), expiresAt: tokens.expiresAt };
    return session;
  }
}
