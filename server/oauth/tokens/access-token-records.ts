import { createHmac, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, type JWTVerifyGetKey } from 'jose';
import type { Middleware } from 'koa';
import { errors, Provider, type AdapterFactory, type AdapterPayload, type Configuration } from 'oidc-provider';
import { z } from 'zod';
import { endpoints } from '../protocol/endpoints.ts';
import { grantedScope } from '../protocol/granted-scope.ts';
import { readBody, replaceBody } from '../protocol/buffered-request-body.ts';
import { identityScopesAmong } from '../protocol/oauth-scopes.ts';

type JwtCustomizer = NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;

/**
 * The secret an access token is on record under. It is computed from the `jti` with a key of ours, so that a `jti`,
 * which any holder of the token can read, is not accepted as a token anywhere.
 */
export const tokenReference = (key: KeyObject, jti: string): string => createHmac('sha256', key).update(jti).digest('base64url');

const issuedClaims = z.object({ jti: z.string(), exp: z.number(), iat: z.number() });

/**
 * Adds `auth_time` to access tokens that act for a user (RFC 9068 section 2.2.1), and to their introspection (RFC 9470 section 6.2):
 * the sign-in that the code or the refresh token was issued from. A refresh passes it on unchanged.
 */
export const authenticationTimeClaim: NonNullable<Configuration['extraTokenClaims']> = ({ oidc: { entities } }, token) => {
  if (token.kind !== 'AccessToken') return undefined;
  const { authTime } = entities.AuthorizationCode ?? entities.DeviceCode ?? entities.RefreshToken ?? {};
  return authTime === undefined ? undefined : { auth_time: authTime };
};

/**
 * Persists a record of every JWT when it is issued; the token is valid only while the record exists. The library leaves the scopes of
 * OpenID Connect out of a token that has an audience. They are added here, because the userinfo endpoint accepts tokens of the API.
 */
export const recordIssuedToken =
  (store: AdapterFactory, key: KeyObject): JwtCustomizer =>
  async (ctx, token, { payload: claims }) => {
    const { jti, exp, iat } = issuedClaims.parse(claims);
    const identity = token.kind === 'AccessToken' ? identityScopesAmong(grantedScope(ctx.oidc)?.split(' ') ?? []) : [];
    const scope = [...identity, ...(token.scope === undefined ? [] : [token.scope])].join(' ') || undefined;
    claims.scope = scope;
    const record: AdapterPayload = {
      kind: token.kind,
      iat,
      exp,
      clientId: token.clientId,
      ...(scope !== undefined && { scope }),
      aud: token.aud,
      ...(token.jkt !== undefined && { jkt: token.jkt }),
      ...(token.extra !== undefined && { extra: token.extra }),
      ...(token.kind === 'AccessToken' && { accountId: token.accountId, grantId: token.grantId, gty: token.gty, sid: token.sid }),
    };
    await store(token.kind).upsert(tokenReference(key, jti), record, exp - iat);
  };

/** What it takes to tell a token of ours. */
export type Verification = { readonly issuer: string; readonly keys: JWTVerifyGetKey; readonly referenceKey: KeyObject };

const takesTokens = new Set<string>([endpoints.revocation, endpoints.introspection]);

/**
 * The library revokes and introspects what it can look up, and refuses JWTs. Here a JWT that we signed becomes the reference
 * of its record before the library reads the body; client authentication and everything else stay the library's.
 */
export const acceptIssuedTokens =
  (verification: Verification): Middleware =>
  async (ctx, next) => {
    if (ctx.method === 'POST' && takesTokens.has(ctx.path) && ctx.is('application/x-www-form-urlencoded')) {
      const form = new URLSearchParams((await readBody(ctx)).toString());
      const [token, ...more] = form.getAll('token');
      if (token !== undefined && more.length === 0 && isJwt(token)) form.set('token', await referenceOf(token, verification));
      replaceBody(ctx, Buffer.from(form.toString()));
    }
    await next();
  };

/**
 * The library's userinfo endpoint accepts opaque tokens without an audience. Here it also accepts a JWT of ours for `audience` that was
 * granted `openid`, so that one token works at the API and at the userinfo endpoint. All further checks stay the library's.
 */
export function acceptTokensAtUserinfo(provider: Provider, verification: Verification, audience: string): void {
  const { AccessToken, ClientCredentials } = provider;
  const findOpaque = AccessToken.find.bind(AccessToken);
  const find: typeof findOpaque = async (presented, options) => {
    if (Provider.ctx?.oidc.route !== 'userinfo' || !isJwt(presented)) return findOpaque(presented, options);
    const reference = await referenceOf(presented, verification);
    const token = await AccessToken.find(reference, options); // a reference is no JWT
    if (!token && (await ClientCredentials.find(reference))) throw new errors.InsufficientScope('the token acts for no user', 'openid');
    if (token?.aud === audience) token.aud = undefined;
    return token;
  };
  Object.assign(AccessToken, { find });
}

async function referenceOf(jwt: string, { issuer, keys, referenceKey }: Verification): Promise<string> {
  try {
    const { payload } = await jwtVerify(jwt, keys, { issuer, typ: 'at+jwt', algorithms: ['ES256'], requiredClaims: ['jti'] });
    return tokenReference(referenceKey, payload.jti ?? '');
  } catch {
    return 'unknown'; // not ours, or expired: to be answered like any other token that we do not know
  }
}

function isJwt(token: string): boolean {
  try {
    return Boolean(decodeProtectedHeader(token));
  } catch {
    return false;
  }
}
