import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';

import type { SpeculativeRead } from '../../database/queries/speculative-read.ts';
import { createProblem } from '../problem-details/problem.ts';
import type { JsonComplexity } from '../validation/json-complexity-and-duplicate-keys.ts';
import type { ChunkedBodySizeLimiter } from './chunked-body-size-limiter.ts';
import type { Principal } from './principal-and-token-types.ts';
import type { RateLimitState } from './rate-limit-state-type.ts';
import { newRequestId } from './request-id.ts';

/** A request's slot in the load shedder, which the request releases while it waits for an event. */
export type ConcurrencySlot = { suspend(): void; resume(): void };

/**
 * Data for one request. All fields are set at creation, so that all contexts have the same shape. The authorization server adds a field
 * (server/oauth/protocol/oauth-request-context.ts).
 */
export interface RequestContext {
  /** Identifies the request in the response and in the log. */
  readonly id: string;
  /** The authenticated caller. */
  principal: Principal | undefined;
  /** Result of the lookup that was part of the token verification statement. */
  speculativeRead: SpeculativeRead | undefined;
  /** Set for requests that the load shedder has admitted, but not for in-process requests. */
  slot: ConcurrencySlot | undefined;
  /** Set for requests with a chunked body. */
  chunkedBody: ChunkedBodySizeLimiter | undefined;
  /** The JSON body before parsing. */
  jsonBody: { readonly bytes: Buffer; readonly complexity: JsonComplexity } | undefined;
  /** The rate limits that apply to the caller, after this request has been counted. */
  rateLimitStates: readonly RateLimitState[];
  /** Text that the next `res.json` call sends instead of its argument. */
  rawJsonBody: string | undefined;
  /** Returns the ETag name of a created resource. Set only if the response has an ETag. */
  formatCreatedEtagName: ((id: number) => string) | undefined;
}

/** The request property that contains the context. A `WeakMap` would keep requests alive too long (see `createSymbolKeyedProperty`). */
const contextSymbol = Symbol('request context');
type RequestWithContext = { [contextSymbol]?: RequestContext };

/** Returns the context of a request. The HTTP server is the first to call this function, when it admits the request. */
export const getRequestContext = (req: object): RequestContext =>
  (req as RequestWithContext)[contextSymbol] ?? createContext(req, newRequestId(), undefined);

function createContext(req: object, id: string, principal: Principal | undefined): RequestContext {
  const context: RequestContext = {
    id,
    principal,
    speculativeRead: undefined,
    slot: undefined,
    chunkedBody: undefined,
    jsonBody: undefined,
    rateLimitStates: [],
    rawJsonBody: undefined,
    formatCreatedEtagName: undefined,
  };
  (req as RequestWithContext)[contextSymbol] = context;
  return context;
}

/** Copies a request's ID and principal to an in-process request that belongs to that request. */
export function copyRequestIdAndPrincipal(from: object, to: object): void {
  const { id, principal } = getRequestContext(from);
  createContext(to, id, principal);
}

/** Sends each request's ID in a response header, and writes an access log line for each response. */
export const assignRequestIdAndLogAccess =
  (log: Logger): RequestHandler =>
  (req, res, next) => {
    const context = getRequestContext(req);
    res.setHeader('X-Request-Id', context.id);
    const startedAt = performance.now();
    res.on('close', () => log.info(accessLogEntry(req, res, context, performance.now() - startedAt)));
    next();
  };

/** IDs in API paths are short numbers. A longer segment is a sign-in identifier or a client mistake, so it is masked. */
const secretLikeSegment = /\/[\w.~%-]{20,}(?=\/|$)/g;

// Logs only selected fields, and the path without its query, because any other part of a request may contain secrets.
function accessLogEntry(req: Request, res: Response, { id, principal }: RequestContext, milliseconds: number): object {
  const clientRequestId = req.get('x-request-id');
  return {
    request_id: id,
    ...(clientRequestId !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(clientRequestId) && { client_request_id: clientRequestId }),
    method: req.method,
    path: req.originalUrl.split('?', 1)[0]?.replaceAll(secretLikeSegment, '/*'),
    status: res.statusCode,
    finished: res.writableFinished,
    milliseconds: Math.round(milliseconds),
    ...(principal && { client_id: principal.clientId, user_id: principal.user?.id }),
  };
}

/** Returns the principal, or `undefined` for an unauthenticated request on a public route. */
export const findPrincipal = (req: object): Principal | undefined => getRequestContext(req).principal;

/** @throws Problem `missing_token` if the request is not authenticated */
export function requirePrincipal(req: object): Principal {
  const principal = findPrincipal(req);
  if (!principal) throw createProblem('missing_token');
  return principal;
}

/** Returns the user on whose behalf the request is made. @throws Problem `forbidden` if the application acts on its own behalf */
export function requirePrincipalUser(req: object): NonNullable<Principal['user']> {
  const { user } = requirePrincipal(req);
  if (user === null) throw createProblem('forbidden', { detail: 'This token does not act on behalf of a user.' });
  return user;
}
