import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { isDatabaseUnavailable, isStorageInsufficient, storageRetryAfterSeconds } from '../../database/errors/availability-errors.ts';
import { isWriteRefusal } from '../../database/storage/storage-reserve.ts';
import { endpoints } from '../protocol/endpoints.ts';
import { grantedScope } from '../protocol/granted-scope.ts';
import { loggedPath } from '../protocol/redacted-path.ts';
import { frameHeaders } from '../pages/assets/page-security-headers.ts';

const engineContext = z.custom<KoaContextWithOIDC>();
const tokenBody = z.record(z.unknown());
const errorBody = z.object({ error: z.string(), error_description: z.string().optional() });
type ErrorBody = z.infer<typeof errorBody>;

const authenticatesClients = new Set<string>([
  endpoints.token,
  endpoints.revocation,
  endpoints.introspection,
  endpoints.device_authorization,
  endpoints.pushed_authorization_request,
]);

type FailureLog = { error(details: object, message: string): void };

const failures = new WeakMap<object, unknown>();

/** To be told of every `server_error` of the library, which answers it by itself. */
export const noteFailure =
  (log: FailureLog) =>
  ({ req, path }: Pick<KoaContextWithOIDC, 'req' | 'path'>, err: unknown): void => {
    failures.set(req, err);
    if (!isWriteRefusal(err)) log.error({ err, path: loggedPath(path) }, 'authorization server failed');
  };

/** Where the library's answers differ from what the RFCs say. */
export const wireCorrections =
  (issuer: string, log: FailureLog): Middleware =>
  async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      noteFailure(log)(ctx, err);
      ctx.status = 500;
      // a code or a session of a transaction that could not be kept
      ctx.remove('Location');
      ctx.remove('Set-Cookie');
      ctx.body = { error: 'server_error', error_description: 'the request could not be completed' };
    }
    const failure = failures.get(ctx.req);
    if (isDatabaseUnavailable(failure)) answerUnavailable(ctx, isStorageInsufficient(failure));
    if (ctx.status === 404 && ctx.body === undefined) answerUnknown(ctx);
    if (authenticatesClients.has(ctx.path)) correctAnswer(ctx, issuer);
    // the library's own pages: the form that posts an answer to an application, and the one that ends a session
    if (ctx.type === 'text/html' && !ctx.response.get('Content-Security-Policy')) ctx.set(frameHeaders(issuer));
  };

function correctAnswer(ctx: Parameters<Middleware>[0], issuer: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Pragma', 'no-cache'); // RFC 6749 section 5.1
  if (ctx.status === 200) {
    if (ctx.path === endpoints.token) nameEveryGrantedScope(ctx);
    return;
  }
  const refused = errorBody.safeParse(ctx.body);
  if (refused.success) correctRefusal(ctx, refused.data, issuer);
}

/** RFC 9110 section 15.6.4: it is not the request that is wrong, and it may be sent again. */
function answerUnavailable(ctx: Parameters<Middleware>[0], isStorageLow: boolean): void {
  ctx.status = 503;
  ctx.set('Retry-After', isStorageLow ? String(storageRetryAfterSeconds) : '1');
  if (ctx.type === 'text/html') return;
  const description = isStorageLow
    ? 'insufficient_storage: the server has too little disk space to write; send the request again later'
    : 'the database cannot be reached; send the request again';
  ctx.body = { error: 'temporarily_unavailable', error_description: description };
}

function answerUnknown(ctx: Parameters<Middleware>[0]): void {
  const known = Object.values<string>(endpoints).includes(ctx.path);
  ctx.status = known ? 405 : 404;
  if (known) ctx.set('Allow', 'POST');
  ctx.body = { error: 'invalid_request', error_description: known ? 'this endpoint is asked with POST' : 'there is no such endpoint' };
}

function correctRefusal(ctx: Parameters<Middleware>[0], { error, error_description: description }: ErrorBody, issuer: string): void {
  // RFC 6749 section 5.2: no client authentication at all is `invalid_client`; RFC 7662 section 2.1 makes that a 401
  if (error === 'invalid_request' && description === 'no client authentication mechanism provided') {
    ctx.status = 401;
    ctx.set('WWW-Authenticate', `Basic realm="${issuer}"`);
    ctx.body = { error: 'invalid_client', error_description: description };
  }
  // RFC 6749 section 5.2
  if (error === 'invalid_request' && description === 'requested grant type is not allowed for this client') {
    ctx.body = { error: 'unauthorized_client', error_description: description };
  }
}

/** RFC 6749 section 5.1: strict clients compare `scope` with what they asked for, `openid` and `offline_access` included. */
function nameEveryGrantedScope(ctx: Parameters<Middleware>[0]): void {
  const scope = grantedScope(engineContext.parse(ctx).oidc);
  if (scope !== undefined) ctx.body = { ...tokenBody.parse(ctx.body), scope };
}
