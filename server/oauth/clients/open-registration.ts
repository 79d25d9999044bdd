import { randomBytes } from 'node:crypto';
import type { Request } from 'express';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { AdapterFactory } from 'oidc-provider';
import { TooManyAttemptsError, type AttemptLimits } from '../brute-force/attempt-limits.ts';
import { endpoints } from '../protocol/endpoints.ts';
import { openPolicyName } from './dynamic-client-registration.ts';

const kind = 'InitialAccessToken';
const tokenSeconds = 60;

/**
 * Open dynamic client registration (RFC 7591 section 3): a request without an initial access token gets one for itself, which names
 * the policy of open registration. So the rules of registration are in one place, and no request can pass without a policy.
 */
export const openRegistration =
  (store: AdapterFactory, limits: AttemptLimits): Middleware =>
  async (ctx, next) => {
    const anonymous = ctx.method === 'POST' && ctx.path === endpoints.registration && ctx.get('authorization') === '';
    if (!anonymous) {
      await next();
    } else if (await isWithinLimit(ctx, limits)) {
      const [token, tokens, issued] = [`mr_${randomBytes(32).toString('base64url')}`, store(kind), Math.floor(Date.now() / 1000)];
      await tokens.upsert(token, { kind, iat: issued, exp: issued + tokenSeconds, policies: [openPolicyName] }, tokenSeconds);
      ctx.req.headers.authorization = `Bearer ${token}`;
      try {
        await next();
      } finally {
        await tokens.destroy(token);
      }
    }
  };

async function isWithinLimit(ctx: Context, limits: AttemptLimits): Promise<boolean> {
  const { ip } = z.custom<Request>().parse(ctx.req);
  try {
    await limits.begin('registration', '', { address: ip });
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
