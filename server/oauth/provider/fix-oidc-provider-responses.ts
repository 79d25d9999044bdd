import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import {
  isTemporaryDatabaseError,
  isDiskFullError,
  lowDiskSpaceRetryAfterSeconds,
} from '../../database/errors/database-error-predicates.ts';
import { isLowDiskSpaceRejectionError } from '../../database/storage/disk-space-monitor.ts';
import { oauthEndpointMethods, oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { getGrantedScopeOfTokenRequest } from '../protocol/granted-scope-of-token-request.ts';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';
import { redactInteractionIdInPath } from '../protocol/redact-interaction-id.ts';
import { createSecurityHeadersWithoutCsp } from '../pages/assets/page-security-headers.ts';

const providerContext = z.custom<KoaContextWithOIDC>();
const tokenBody = z.record(z.unknown());
const errorBody = z.object({ error: z.string(), error_description: z.string().optional() });
type ErrorBody = z.infer<typeof errorBody>;

const clientAuthenticatedPaths = new Set<string>([
  oauthEndpointPaths.token,
  oauthEndpointPaths.revocation,
  oauthEndpointPaths.introspection,
  oauthEndpointPaths.device_authorization,
  oauthEndpointPaths.pushed_authorization_request,
]);

type ErrorLog = { error(details: object, message: string): void };

/** Returns a listener for `server_error` that records and logs the cause of the error. oidc-provider itself sends the error response. */
export const createServerErrorRecorder =
  (log: ErrorLog) =>
  ({ req, path }: Pick<KoaContextWithOIDC, 'req' | 'path'>, err: unknown): void => {
    getOauthRequestContext(req).serverError = err;
    if (!isLowDiskSpaceRejectionError(err)) log.error({ err, path: redactInteractionIdInPath(path) }, 'authorization server failed');
  };

/** Corrects oidc-provider responses that deviate from the RFCs, and turns database failures into 503 responses. */
export const fixOidcProviderResponses =
  (issuer: string, log: ErrorLog): Middleware =>
  async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      createServerErrorRecorder(log)(ctx, err);
      ctx.status = 500;
      // These headers can contain a code or a session ID that was not stored, because the transaction failed to commit.
      ctx.remove('Location');
      ctx.remove('Set-Cookie');
      ctx.body = { error: 'server_error', error_description: 'the request could not be completed' };
    }
    const { serverError } = getOauthRequestContext(ctx.req);
    if (isTemporaryDatabaseError(serverError)) sendUnavailable(ctx, isDiskFullError(serverError));
    if (ctx.status === 404 && ctx.body === undefined) sendNotFoundOrMethodNotAllowed(ctx);
    if (clientAuthenticatedPaths.has(ctx.path)) correctResponse(ctx, issuer);
    // oidc-provider itself renders only two pages: the form that posts a response to a client, and the sign-out form.
    if (ctx.type === 'text/html' && !ctx.response.get('Content-Security-Policy')) ctx.set(createSecurityHeadersWithoutCsp(issuer));
  };

function correctResponse(ctx: Parameters<Middleware>[0], issuer: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Pragma', 'no-cache'); // RFC 6749 section 5.1
  if (ctx.status === 200) {
    if (ctx.path === oauthEndpointPaths.token) setGrantedScope(ctx);
    return;
  }
  const parsedError = errorBody.safeParse(ctx.body);
  if (parsedError.success) correctErrorBody(ctx, parsedError.data, issuer);
}

/** Sends 503 with Retry-After (RFC 9110 section 15.6.4), because the request is valid and can be retried. */
function sendUnavailable(ctx: Parameters<Middleware>[0], isStorageLow: boolean): void {
  ctx.status = 503;
  ctx.set('Retry-After', isStorageLow ? String(lowDiskSpaceRetryAfterSeconds) : '1');
  if (ctx.type === 'text/html') return;
  const description = isStorageLow
    ? 'insufficient_storage: the server does not have enough disk space to save changes; send the request again later'
    : 'the database cannot be reached; send the request again';
  ctx.body = { error: 'temporarily_unavailable', error_description: description };
}

function sendNotFoundOrMethodNotAllowed(ctx: Parameters<Middleware>[0]): void {
  const methods = oauthEndpointMethods[ctx.path];
  ctx.status = methods ? 405 : 404;
  if (methods) ctx.set('Allow', methods.join(', '));
  ctx.body = {
    error: 'invalid_request',
    error_description: methods ? `this endpoint accepts only ${methods.join(', ')}` : 'there is no such endpoint',
  };
}

/** Errors for which RFC 7521 section 4.2.1 requires `invalid_client`, because the client assertion is not valid. */
const assertionErrors = new Set(['client_id mismatch', 'invalid client_assertion format']);

function correctErrorBody(ctx: Parameters<Middleware>[0], { error, error_description: description }: ErrorBody, issuer: string): void {
  const { clientAuthenticationFailure, form, lacksDpopProof, lacksCertificate } = getOauthRequestContext(ctx.req);
  // RFC 9449 section 5 requires `invalid_dpop_proof`. oidc-provider's `invalid_grant` would suggest that the code or refresh token is
  // invalid.
  if (lacksDpopProof && error === 'invalid_grant')
    ctx.body = { error: 'invalid_dpop_proof', error_description: 'this application must send a DPoP proof with each token request' };
  // `invalid_grant` would be wrong, because neither the code nor the refresh token was checked.
  if (lacksCertificate && error === 'invalid_grant')
    ctx.body = {
      error: 'invalid_request',
      error_description: 'this application must present its client certificate with each token request',
    };
  if (error === 'invalid_client' && clientAuthenticationFailure !== undefined)
    ctx.body = { error, error_description: clientAuthenticationFailure };
  if (error === 'invalid_request' && assertionErrors.has(description ?? '') && form?.has('client_assertion') === true) {
    ctx.status = 401;
    ctx.body = { error: 'invalid_client', error_description: description };
  }
  // A request without any client authentication receives `invalid_client` (RFC 6749 section 5.2) with the status 401 (RFC 7662 section
  // 2.1).
  if (error === 'invalid_request' && description === 'no client authentication mechanism provided') {
    ctx.status = 401;
    ctx.set('WWW-Authenticate', `Basic realm="${issuer}"`);
    ctx.body = { error: 'invalid_client', error_description: description };
  }
  // If the client may not use the grant type, RFC 6749 section 5.2 requires `unauthorized_client`.
  if (error === 'invalid_request' && description === 'requested grant type is not allowed for this client') {
    ctx.body = { error: 'unauthorized_client', error_description: description };
  }
}

/**
 * Sets `scope` to all granted scopes (RFC 6749 section 5.1), because strict clients compare `scope` with their request, including `openid`
 * and `offline_access`.
 */
function setGrantedScope(ctx: Parameters<Middleware>[0]): void {
  const scope = getGrantedScopeOfTokenRequest(providerContext.parse(ctx).oidc);
  if (scope !== undefined) ctx.body = { ...tokenBody.parse(ctx.body), scope };
}
