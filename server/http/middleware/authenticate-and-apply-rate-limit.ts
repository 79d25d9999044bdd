import type { Request, RequestHandler } from 'express';
import type { ProblemCode } from '@mandate/contract';
import type { ExpectedLookup } from '../../database/queries/speculative-read.ts';
import type { ApplyRateLimit } from './enforce-rate-limit.ts';
import { getCertificateThumbprint } from '../request/client-certificate.ts';
import { getRequiredAccessOfMatchedRoute } from '../request/matched-route.ts';
import type { Principal, VerifyAccessToken } from '../request/principal-and-token-types.ts';
import { createProblem, type Problem } from '../problem-details/problem.ts';
import { getRequestContext } from '../request/request-context-principal-and-access-log.ts';

/**
 * Values of the `WWW-Authenticate` challenge. The challenge contains the URL of the metadata that describes how to get a token (RFC 9728
 * section 5.1), the DPoP algorithms, and the scopes to request (RFC 6750 section 3).
 */
export type TokenChallenge = {
  readonly resourceMetadata: string;
  readonly proofAlgorithms: readonly string[];
  readonly scopes?: readonly string[];
};

type AuthenticationOptions = {
  /** Whether a request may omit the token. */
  readonly isPublic?: (req: Request) => boolean;
  /**
   * Returns the lookup that the request will need if its token belongs to the expected principal. The lookup and the token verification
   * share one statement.
   */
  readonly expectLookup?: (req: Request, expected: Principal) => ExpectedLookup | undefined;
};

/**
 * Authenticates a request by its `Authorization` header only (RFC 6750 section 2.1), never by a token in the query or a form. A public
 * route requires no token, but rejects an invalid token, so that the client notices the problem. Before the body is read, the request is
 * counted against the rate limit of the authenticated caller or, for an unauthenticated request, of the IP address.
 */
export const authenticateAndApplyRateLimit =
  (
    verify: VerifyAccessToken,
    challenge: TokenChallenge,
    limit: ApplyRateLimit,
    { isPublic = isPublicRoute, expectLookup }: AuthenticationOptions = {},
  ): RequestHandler =>
  async (req, res, next) => {
    const context = getRequestContext(req);
    const { principal: inheritedPrincipal } = context;
    if (inheritedPrincipal) {
      // This in-process request belongs to an authenticated request.
      await limit(req, res, inheritedPrincipal);
      return next();
    }
    const [, scheme = '', token] = /^(Bearer|DPoP) +([A-Za-z0-9._~+/-]+=*)$/i.exec(req.get('authorization') ?? '') ?? [];
    if (token === undefined) {
      await limit(req, res);
      if (isPublic(req)) return next();
      throw unauthorized(challenge, 'missing_token', 'Send an access token: `Authorization: Bearer <token>`.');
    }
    const [path = ''] = req.originalUrl.split('?', 1);
    const certificateThumbprint = (): string | undefined => getCertificateThumbprint(req);
    const verified = await verify({
      scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer',
      token,
      proof: req.get('dpop'),
      certificateThumbprint,
      method: req.method,
      path,
      ...(expectLookup && {
        speculation: {
          expectLookup: (expected) => expectLookup(req, expected),
          keepResult: (read) => (context.speculativeRead = read),
        },
      }),
    });
    if (typeof verified === 'string' || 'dpopNonce' in verified) {
      await limit(req, res);
      if (typeof verified !== 'string') throw dpopNonceRequired(challenge, verified.dpopNonce);
      throw unauthorized(challenge, verified, 'Get a new access token and send the request again.');
    }
    context.principal = verified;
    await limit(req, res, verified);
    return next();
  };

const isPublicRoute = (req: Request): boolean => getRequiredAccessOfMatchedRoute(req) === 'public';

function unauthorized(challenge: TokenChallenge, code: ProblemCode, detail: string): Problem {
  // For a request without a token, the challenge must not contain an error code (RFC 6750 section 3.1).
  const error = code === 'missing_token' ? undefined : 'invalid_token';
  return createProblem(code, { detail, headers: { 'WWW-Authenticate': formatTokenChallenge(challenge, error) } });
}

/** Returns the problem for a DPoP proof that is not recent according to this server's clock (RFC 9449 section 9). */
function dpopNonceRequired(challenge: TokenChallenge, nonce: string): Problem {
  return createProblem('invalid_token', {
    detail: 'The DPoP proof is not recent enough. Send a proof that contains the nonce from the `DPoP-Nonce` header.',
    headers: { 'WWW-Authenticate': formatDpopChallenge(challenge, 'use_dpop_nonce'), 'DPoP-Nonce': nonce },
  });
}

/** Returns the value of a `WWW-Authenticate` header for the Bearer and DPoP schemes (RFC 6750 section 3, RFC 9449 section 7.1). */
export const formatTokenChallenge = (challenge: TokenChallenge, error: 'invalid_token' | 'insufficient_scope' | undefined): string =>
  `Bearer realm="api", ${formatChallengeParameters(challenge, error)}, ${formatDpopChallenge(challenge, error)}`;

const formatDpopChallenge = (challenge: TokenChallenge, error: string | undefined): string =>
  `DPoP realm="api", ${formatChallengeParameters(challenge, error)}, algs="${challenge.proofAlgorithms.join(' ')}"`;

const formatChallengeParameters = ({ resourceMetadata, scopes }: TokenChallenge, error: string | undefined): string =>
  [
    ...(error === undefined ? [] : [`error="${error}"`]),
    ...(scopes ? [`scope="${scopes.join(' ')}"`] : []),
    `resource_metadata="${resourceMetadata}"`,
  ].join(', ');
