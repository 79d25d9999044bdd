import { createHmac, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, type JWTVerifyGetKey } from 'jose';
import type { Middleware } from 'koa';
import { errors, Provider, type AdapterFactory, type AdapterPayload, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { getGrantedScopeOfTokenRequest } from '../protocol/granted-scope-of-token-request.ts';
import { readBodyFromBufferOrStream, replaceRequestBody } from '../protocol/buffered-request-body.ts';
import { filterOpenIdConnectScopes } from '../protocol/oauth-scopes.ts';

type JwtCustomizer = NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;

/**
 * Derives the secret identifier of an access token record from the token's `jti` and a server key. The `jti` itself is readable in the
 * token, so the server must not accept a `jti` as a token.
 */
export const deriveAccessTokenRecordId = (key: KeyObject, jti: string): string => createHmac('sha256', key).update(jti).digest('base64url');

const issuedClaims = z.object({ jti: z.string(), exp: z.number(), iat: z.number() });

/**
 * Adds `auth_time` and `acr` to access tokens that act on behalf of a user (RFC 9068 section 2.2.1), and to their introspection responses
 * (RFC 9470 section 6.2). The claims describe the sign-in that the code or refresh token was issued for. A refresh does not change these
 * claims.
 */
export const getAuthTimeAndAcrForAccessToken: NonNullable<Configuration['extraTokenClaims']> = ({ oidc }, token) => {
  if (token.kind !== 'AccessToken') return undefined;
  const { authTime, acr } = findGrantSource(oidc) ?? {};
  return authTime === undefined ? undefined : { auth_time: authTime, ...(acr !== undefined && { acr }) };
};

/** Returns the code or refresh token from which a token is issued, or undefined if no user is involved. */
const findGrantSource = ({ entities }: KoaContextWithOIDC['oidc']) =>
  entities.AuthorizationCode ?? entities.DeviceCode ?? entities.RefreshToken;

/**
 * Stores a record of every JWT when it is issued; the token is valid only while the record exists. oidc-provider omits OpenID Connect
 * scopes from tokens with an audience. This function adds the OpenID Connect scopes to the token, because the userinfo endpoint accepts API
 * tokens.
 */
export const addOpenIdScopesAndStoreTokenRecord =
  (store: AdapterFactory, key: KeyObject): JwtCustomizer =>
  async (ctx, token, { payload: claims }) => {
    const { jti, exp, iat } = issuedClaims.parse(claims);
    const identity =
      token.kind === 'AccessToken' ? filterOpenIdConnectScopes(getGrantedScopeOfTokenRequest(ctx.oidc)?.split(' ') ?? []) : [];
    const scope = [...identity, ...(token.scope === undefined ? [] : [token.scope])].join(' ') || undefined;
    claims.scope = scope;
    const { claims: requestedClaims } = findGrantSource(ctx.oidc) ?? {};
    const record: AdapterPayload = {
      kind: token.kind,
      iat,
      exp,
      clientId: token.clientId,
      ...(scope !== undefined && { scope }),
      aud: token.aud,
      ...(token.jkt !== undefined && { jkt: token.jkt }),
      ...(token['x5t#S256'] !== undefined && { 'x5t#S256': token['x5t#S256'] }),
      ...(token.extra !== undefined && { extra: token.extra }),
      ...('rar' in token && token.rar !== undefined && { rar: token.rar }),
      // The userinfo endpoint needs the requested claims, which oidc-provider omits from tokens with an audience.
      ...(token.kind === 'AccessToken' && requestedClaims !== undefined && { claims: requestedClaims }),
      ...(token.kind === 'AccessToken' && { accountId: token.accountId, grantId: token.grantId, gty: token.gty, sid: token.sid }),
    };
    await store(token.kind).upsert(deriveAccessTokenRecordId(key, jti), record, exp - iat);
  };

/** Issuer and keys for verifying access tokens issued by this server. */
export type TokenVerificationKeys = { readonly issuer: string; readonly keys: JWTVerifyGetKey; readonly referenceKey: KeyObject };

const tokenBodyPaths = new Set<string>([oauthEndpointPaths.revocation, oauthEndpointPaths.introspection]);

/**
 * Makes revocation and introspection accept JWT access tokens, which oidc-provider itself rejects. Replaces a valid JWT in the request body
 * with its record identifier. oidc-provider then processes the request, including client authentication.
 */
export const acceptJwtsForRevocationAndIntrospection =
  (verification: TokenVerificationKeys): Middleware =>
  async (ctx, next) => {
    if (ctx.method === 'POST' && tokenBodyPaths.has(ctx.path) && ctx.is('application/x-www-form-urlencoded')) {
      const form = new URLSearchParams((await readBodyFromBufferOrStream(ctx)).toString());
      const [token, ...more] = form.getAll('token');
      if (token !== undefined && more.length === 0 && isJwt(token)) {
        form.set('token', await referenceOf(token, verification));
        // Refresh tokens are not JWTs, so looking for one would be pointless. oidc-provider rejects a request with several hints.
        if (form.getAll('token_type_hint').length < 2) form.set('token_type_hint', 'access_token');
      }
      replaceRequestBody(ctx, Buffer.from(form.toString()));
    }
    await next();
  };

/**
 * Makes the userinfo endpoint accept JWT access tokens for `audience` that include `openid`, so that one token works for both the API and
 * userinfo. By default, oidc-provider accepts only opaque tokens without an audience at this endpoint. oidc-provider still performs all
 * other checks.
 */
export function acceptJwtsAtUserinfo(provider: Provider, verification: TokenVerificationKeys, audience: string): void {
  const { AccessToken, ClientCredentials } = provider;
  const findOpaque = AccessToken.find.bind(AccessToken);
  const find: typeof findOpaque = async (presented, options) => {
    if (Provider.ctx?.oidc.route !== 'userinfo' || !isJwt(presented)) return findOpaque(presented, options);
    const reference = await referenceOf(presented, verification);
    const token = await AccessToken.find(reference, options); // the reference is not a JWT, so this call finds the record
    if (!token && (await ClientCredentials.find(reference)))
      throw new errors.InsufficientScope('the token does not act on behalf of a user', 'openid');
    if (token?.aud === audience) token.aud = undefined;
    return token;
  };
  Object.assign(AccessToken, { find });
}

async function referenceOf(jwt: string, { issuer, keys, referenceKey }: TokenVerificationKeys): Promise<string> {
  try {
    const { payload } = await jwtVerify(jwt, keys, { issuer, typ: 'at+jwt', algorithms: ['ES256'], requiredClaims: ['jti'] });
    return deriveAccessTokenRecordId(referenceKey, payload.jti ?? '');
  } catch {
    return 'unknown'; // an invalid or expired JWT is treated like any unknown token
  }
}

function isJwt(token: string): boolean {
  try {
    return Boolean(decodeProtectedHeader(token));
  } catch {
    return false;
  }
}
