import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { endpoints } from '../protocol/endpoints.ts';
import { isReplayedRefresh } from '../refresh/replay-refresh-response.ts';
import { endedGrant } from './request-transaction.ts';

/** What became of a request to the endpoints that give and take tokens, without anything that names somebody. */
export type TokenOperation =
  | { readonly name: 'issued'; readonly grantType: string }
  /** A repeated refresh returned the first response. */
  | { readonly name: 'replayed' }
  | { readonly name: 'refused'; readonly grantType: string; readonly error: string }
  | { readonly name: 'revoked'; readonly reason: 'application' | 'person' | 'reuse' };

export type OnTokenOperation = (operation: TokenOperation) => void;

const engineContext = z.custom<Partial<KoaContextWithOIDC>>();
const refusal = z.object({ error: z.string() });

/** Tells of each once it is kept, as the caller is told. */
export const tellTokenOperations =
  (tell: OnTokenOperation): Middleware =>
  async (ctx, next) => {
    await next();
    if (ctx.method !== 'POST') return;
    const { oidc } = engineContext.parse(ctx);
    if (ctx.path === endpoints.revocation && ctx.status === 200) {
      const { AccessToken, RefreshToken, ClientCredentials } = oidc?.entities ?? {};
      if (AccessToken ?? RefreshToken ?? ClientCredentials) tell({ name: 'revoked', reason: 'application' });
    }
    if (ctx.path !== endpoints.token) return;
    const grantType = grantTypeOf(oidc?.params?.['grant_type']);
    if (ctx.status === 200) return tell(isReplayedRefresh(ctx) ? { name: 'replayed' } : { name: 'issued', grantType });
    tell({ name: 'refused', grantType, error: refusal.safeParse(ctx.body).data?.error ?? 'unknown' });
    if (endedGrant(ctx.req)) tell({ name: 'revoked', reason: 'reuse' });
  };

const grantTypes = new Map([
  ['authorization_code', 'authorization_code'],
  ['client_credentials', 'client_credentials'],
  ['refresh_token', 'refresh_token'],
  ['urn:ietf:params:oauth:grant-type:device_code', 'device_code'],
]);

/** Callers may send anything. */
const grantTypeOf = (given: unknown): string => (typeof given === 'string' ? grantTypes.get(given) : undefined) ?? 'other';
