import type { RequestHandler } from 'express';
import { metadataOf } from '@mandate/contract';
import { problem } from '../problem-details/problem.ts';
import { routeOf } from '../request/matched-route.ts';

/** Rejects requests whose `Accept` header excludes the media types of the route (by default JSON), before anything is executed. */
export const negotiate: RequestHandler = (req, _res, next) => {
  const { accept = '*/*' } = req.headers;
  if (accept === '*/*') return next();
  const { produces = ['application/json'] } = metadataOf(routeOf(req));
  const offered = [...produces, 'application/problem+json'];
  // Some clients add a charset parameter; responses are always UTF-8.
  if (req.accepts([...offered, ...offered.map((type) => `${type};charset=utf-8`)]) !== false) return next();
  throw problem('not_acceptable', { detail: `Answers are ${produces.join(' or ')}, failures application/problem+json.` });
};
