import type { RequestHandler } from 'express';
import { getRouteMetadata } from '@mandate/contract';
import { createProblem } from '../problem-details/problem.ts';
import { translatable } from '../problem-details/translatable-text.ts';
import { getMatchedRoute } from '../request/matched-route.ts';

/** Rejects requests whose `Accept` header excludes the route's media types (JSON by default), before anything is executed. */
export const rejectUnsupportedAcceptHeader: RequestHandler = (req, _res, next) => {
  const { accept = '*/*' } = req.headers;
  if (accept === '*/*') return next();
  const { produces = ['application/json'] } = getRouteMetadata(getMatchedRoute(req));
  const offered = [...produces, 'application/problem+json'];
  // Some clients add a charset parameter; responses are always UTF-8.
  if (req.accepts([...offered, ...offered.map((type) => `${type};charset=utf-8`)]) !== false) return next();
  throw createProblem('not_acceptable', {
    detail: translatable`Responses have the media type ${{ types: { anyOf: produces } }}, and errors have application/problem+json. Accept both.`,
  });
};
