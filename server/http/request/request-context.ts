import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';

import { noteOf } from '../../memory/object-metadata.ts';
import { problem } from '../problem-details/problem.ts';
import { newRequestId } from './request-id.ts';
import type { Principal } from './principal.ts';

type RequestScope = { readonly id: string; principal?: Principal };

const scopes = noteOf<RequestScope>('scope');

/** Gives every request its id, and every answer one line in the log. */
export const requestScope =
  (log: Logger): RequestHandler =>
  (req, res, next) => {
    const scope: RequestScope = { id: newRequestId() };
    scopes.set(req, scope);
    res.setHeader('X-Request-Id', scope.id);
    const begun = performance.now();
    res.on('close', () => log.info(accessLine(req, res, scope, performance.now() - begun)));
    next();
  };

/** Identifiers of the API are short numbers; what is as long as this names somebody's sign-in, or was put there by mistake. */
const longSegment = /\/[\w.~%-]{20,}(?=\/|$)/g;

// Named fields only, and the path without its query: nothing that a caller may have put a secret into.
function accessLine(req: Request, res: Response, { id, principal }: RequestScope, milliseconds: number): object {
  const callerId = req.get('x-request-id');
  return {
    request_id: id,
    ...(callerId !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(callerId) && { client_request_id: callerId }),
    method: req.method,
    path: req.originalUrl.split('?', 1)[0]?.replaceAll(longSegment, '/*'),
    status: res.statusCode,
    finished: res.writableFinished,
    milliseconds: Math.round(milliseconds),
    ...(principal && { client_id: principal.clientId, user_id: principal.user?.id }),
  };
}

/** For a request that is made in the course of another one: it has the same id, and acts for the same. */
export const continueScope = (from: object, to: object): void => scopes.set(to, scopeOf(from));

const scopeOf = (req: object): RequestScope => {
  const scope = scopes.get(req);
  if (!scope) throw new Error('a request without its scope');
  return scope;
};

export const requestId = (req: object): string => scopeOf(req).id;

export const setPrincipal = (req: object, principal: Principal): void => {
  scopeOf(req).principal = principal;
};

/** Who the request acts for, on a public route perhaps nobody. */
export const principalIfAny = (req: object): Principal | undefined => scopeOf(req).principal;

/** Who the request acts for. */
export function principalOf(req: object): Principal {
  const principal = principalIfAny(req);
  if (!principal) throw problem('missing_token');
  return principal;
}

/** The person the request acts for; a token of an application that acts for itself is not enough. */
export function personOf(req: object): NonNullable<Principal['user']> {
  const { user } = principalOf(req);
  if (user === null) throw problem('forbidden', { detail: 'This token acts for no person.' });
  return user;
}
