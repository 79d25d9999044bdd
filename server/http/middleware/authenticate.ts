import type { Request, RequestHandler } from 'express';
import type { ProblemCode } from '@mandate/contract';
import type { LimitRequest } from './rate-limit.ts';
import { accessOf } from '../request/matched-route.ts';
import type { VerifyAccessToken } from '../request/principal.ts';
import { problem, type Problem } from '../problem-details/problem.ts';
import { principalIfAny, setPrincipal } from '../request/request-context.ts';

/**
 * What a refused caller is told besides: where to find out how to get a token (RFC 9728 section 5.1), how to prove to be its owner, and
 * the scopes to request (RFC 6750 section 3).
 */
export type Challenge = {
  readonly resourceMetadata: string;
  readonly proofAlgorithms: readonly string[];
  readonly scopes?: readonly string[];
};

/**
 * Who is calling, from the Authorization header alone (RFC 6750 section 2.1): a token in the query or in a form is not looked at.
 * A public route needs no token, but a bad one is refused there too, so that its owner learns of it. The request counts for
 * whoever it turns out to be from, and for the address when it is from nobody: before its body is read.
 */
export const authenticate =
  (verify: VerifyAccessToken, challenge: Challenge, limit: LimitRequest, isPublic = isPublicRoute): RequestHandler =>
  async (req, res, next) => {
    const known = principalIfAny(req);
    if (known) {
      // made in the course of a request that was let in
      await limit(req, res, known);
      return next();
    }
    const [, scheme = '', token] = /^(Bearer|DPoP) +([A-Za-z0-9._~+/-]+=*)$/i.exec(req.get('authorization') ?? '') ?? [];
    if (token === undefined) {
      await limit(req, res);
      if (isPublic(req)) return next();
      throw unauthorized(challenge, 'missing_token', 'Send an access token: `Authorization: Bearer <token>`.');
    }
    const [path = ''] = req.originalUrl.split('?', 1);
    const presented = { token, proof: req.get('dpop'), method: req.method, path };
    const verified = await verify({ ...presented, scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer' });
    if (typeof verified === 'string') {
      await limit(req, res);
      throw unauthorized(challenge, verified, 'Get a new access token and send the request again.');
    }
    setPrincipal(req, verified);
    await limit(req, res, verified);
    return next();
  };

const isPublicRoute = (req: Request): boolean => accessOf(req) === 'public';

function unauthorized({ resourceMetadata, proofAlgorithms, scopes }: Challenge, code: ProblemCode, detail: string): Problem {
  // RFC 6750 section 3.1: without a token the challenge carries no error code.
  const particulars = [
    ...(code === 'missing_token' ? [] : ['error="invalid_token"']),
    ...(scopes ? [`scope="${scopes.join(' ')}"`] : []),
    `resource_metadata="${resourceMetadata}"`,
  ].join(', ');
  const challenges = [`Bearer realm="api", ${particulars}`, `DPoP realm="api", ${particulars}, algs="${proofAlgorithms.join(' ')}"`];
  return problem(code, { detail, headers: { 'WWW-Authenticate': challenges.join(', ') } });
}
