import { randomBytes } from 'node:crypto';
import type { Request } from 'express';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { AdapterFactory } from 'oidc-provider';
import { TooManyAttemptsError, type AttemptLimiter } from '../brute-force/attempt-limiter.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { openRegistrationPolicyName } from './dynamic-client-registration.ts';

const tokenModel = 'InitialAccessToken';
const tokenSeconds = 60;

/**
 * Enables open dynamic client registration (RFC 7591 section 3). The server adds a temporary token, which specifies the open registration
 * policy, to each request without an initial access token. All registration rules are therefore defined in policies, and every registration
 * request is subject to a policy.
 */
export const limitAndAuthorizeAnonymousRegistrations =
  (store: AdapterFactory, limits: AttemptLimiter): Middleware =>
  async (ctx, next) => {
    const isAnonymous = ctx.method === 'POST' && ctx.path === oauthEndpointPaths.registration && ctx.get('authorization') === '';
    if (!isAnonymous) {
      await next();
    } else if (await isWithinLimit(ctx, limits)) {
      const [token, tokens, issued] = [`mr_${randomBytes(32).toString('base64url')}`, store(tokenModel), Math.floor(Date.now() / 1000)];
      await tokens.upsert(
        token,
        { kind: tokenModel, iat: issued, exp: issued + tokenSeconds, policies: [openRegistrationPolicyName] },
        tokenSeconds,
      );
      ctx.req.headers.authorization = `Bearer ${token}`;
      try {
        await next();
      } finally {
        await tokens.destroy(token);
      }
    }
  };

async function isWithinLimit(ctx: Context, limits: AttemptLimiter): Promise<boolean> {
  const { ip } = z.custom<Request>().parse(ctx.req);
  try {
    await limits.countAttempt('registration', '', { address: ip });
    return true;
  } catch (error) {
    if (!(error instanceof TooManyAttemptsError)) throw error;
    ctx.status = 429;
    ctx.set('Retry-After', String(error.retryAfterSeconds));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { error: 'temporarily_unavailable', error_description: 'too many registrations: wait before the next request' };
    return false;
  }
}
