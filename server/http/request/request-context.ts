import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';

import { defineObjectMetadata } from '../../memory/object-metadata.ts';
import { createProblem } from '../problem-details/problem.ts';
import { newRequestId } from './request-id.ts';
import type { Principal } from './principal.ts';

type RequestContext = { readonly id: string; principal?: Principal };

const contexts = defineObjectMetadata<RequestContext>('scope');

/** Assigns an ID to every request and writes an access log line for every response. */
export const attachRequestContext =
  (log: Logger): RequestHandler =>
  (req, res, next) => {
    const context: RequestContext = { id: newRequestId() };
    contexts.set(req, context);
    res.setHeader('X-Request-Id', context.id);
    const startedAt = performance.now();
    res.on('close', () => log.info(accessLogEntry(req, res, context, performance.now() - startedAt)));
    next();
  };

/** IDs in API paths are short numbers. A longer segment is a sign-in identifier or a client mistake, so it is masked. */
const secretLikeSegment = /\/[\w.~%-]{20,}(?=\/|$)/g;

// Logs only selected fields, and the path without its query, because clients may put secrets anywhere else.
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

/** Gives an in-process request the ID and principal of the request to which it belongs. */
export const inheritRequestContext = (from: object, to: object): void => contexts.set(to, contextOf(from));

const contextOf = (req: object): RequestContext => {
  const context = contexts.get(req);
  if (!context) throw new Error('the request has no context');
  return context;
};

export const getRequestId = (req: object): string => contextOf(req).id;

export const setPrincipal = (req: object, principal: Principal): void => {
  contextOf(req).principal = principal;
};

/** Returns the principal, or `undefined` for an unauthenticated request on a public route. */
export const findPrincipal = (req: object): Principal | undefined => contextOf(req).principal;

/** @throws Problem `missing_token` if the request is not authenticated */
export function requirePrincipal(req: object): Principal {
  const principal = findPrincipal(req);
  if (!principal) throw createProblem('missing_token');
  return principal;
}

/** Returns the user on whose behalf the request is made. @throws Problem `forbidden` if the application acts on its own behalf */
export function requireUser(req: object): NonNullable<Principal['user']> {
  const { user } = requirePrincipal(req);
  if (user === null) throw createProblem('forbidden', { detail: 'This token does not act on behalf of a user.' });
  return user;
}
