import type { RequestHandler } from 'express';
import { metadataOf } from '@mandate/contract';
import { problem } from '../problem-details/problem.ts';
import { routeOf } from '../request/matched-route.ts';

/** Answers are JSON, unless the route says otherwise; a caller that accepts none of it is told so before anything happens. */
export const negotiate: RequestHandler = (req, _res, next) => {
  const { accept = '*/*' } = req.headers;
  if (accept === '*/*') return next();
  const { produces = ['application/json'] } = metadataOf(routeOf(req));
  const offered = [...produces, 'application/problem+json'];
  // some callers name the charset too, which is the one there is
  if (req.accepts([...offered, ...offered.map((type) => `${type};charset=utf-8`)]) !== false) return next();
  throw problem('not_acceptable', { detail: `Answers are ${produces.join(' or ')}, failures application/problem+json.` });
};
