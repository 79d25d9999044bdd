import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';
import { isReplayedRefresh } from '../refresh/refresh-token-grant.ts';

/** Result of a request to the token or revocation endpoint, without personal data. */
export type TokenOperation =
  | { readonly name: 'issued'; readonly grantType: string }
  /** A repeated refresh request received the stored response to the first request. */
  | { readonly name: 'replayed' }
  | { readonly name: 'refused'; readonly grantType: string; readonly error: string }
  | { readonly name: 'revoked'; readonly reason: 'application' | 'person' | 'reuse' };

export type OnTokenOperation = (operation: TokenOperation) => void;

const providerContext = z.custom<Partial<KoaContextWithOIDC>>();
const errorBody = z.object({ error: z.string() });

/** Reports each operation when the response is sent, after the transaction has committed. */
export const createTokenOperationReportingMiddleware =
  (report: OnTokenOperation): Middleware =>
  async (ctx, next) => {
    await next();
    if (ctx.method !== 'POST') return;
    const { oidc } = providerContext.parse(ctx);
    if (ctx.path === oauthEndpointPaths.revocation && ctx.status === 200) {
      const { AccessToken, RefreshToken, ClientCredentials } = oidc?.entities ?? {};
      if (AccessToken ?? RefreshToken ?? ClientCredentials) report({ name: 'revoked', reason: 'application' });
    }
    if (ctx.path !== oauthEndpointPaths.token) return;
    const grantType = reportedGrantType(oidc?.params?.['grant_type']);
    if (ctx.status === 200) return report(isReplayedRefresh(ctx.req) ? { name: 'replayed' } : { name: 'issued', grantType });
    report({ name: 'refused', grantType, error: errorBody.safeParse(ctx.body).data?.error ?? 'unknown' });
    if (getOauthRequestContext(ctx.req).revokedGrantId !== undefined) report({ name: 'revoked', reason: 'reuse' });
  };

const reportedGrantTypes = new Map([
  ['authorization_code', 'authorization_code'],
  ['client_credentials', 'client_credentials'],
  ['refresh_token', 'refresh_token'],
  ['urn:ietf:params:oauth:grant-type:device_code', 'device_code'],
]);

/** Maps unknown values to `other`, because clients can send any value. */
const reportedGrantType = (value: unknown): string => (typeof value === 'string' ? reportedGrantTypes.get(value) : undefined) ?? 'other';
