import type { Request } from 'express';
import type { Context, Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { TooManyAttemptsError, type AttemptLimiter } from '../brute-force/attempt-limiter.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import type { OidcPageHandlers } from '../pages/views/oidc-provider/oidc-provider-pages.ts';
import { userCodeFromUrl } from '../pages/views/oidc-provider/user-code.ts';
import { readBodyFromBufferOrStream, replaceRequestBody } from '../protocol/buffered-request-body.ts';

/** Returns whether the request contains a user code, either in the submitted form or in the URL. */
async function containsUserCode(ctx: Context): Promise<boolean> {
  if (ctx.method !== 'POST') return userCodeFromUrl(ctx.originalUrl) !== '';
  const body = await readBodyFromBufferOrStream(ctx);
  replaceRequestBody(ctx, body);
  return Boolean(new URLSearchParams(body.toString()).get('user_code'));
}

/**
 * Limits the number of wrong user codes to ten per network (RFC 8628 section 5.1), because an attacker who guesses a code could connect
 * another user's device. Counts the attempt before the request transaction starts, because a rollback would undo the count.
 */
export const limitUserCodeAttempts =
  (limits: AttemptLimiter, pages: Pick<OidcPageHandlers, 'tooManyCodes'>): Middleware =>
  async (ctx, next) => {
    if (ctx.path !== oauthEndpointPaths.code_verification || !(await containsUserCode(ctx))) {
      await next();
      return;
    }
    const { ip } = z.custom<Request>().parse(ctx.req);
    try {
      const attempt = await limits.countAttempt('userCode', '', { address: ip });
      await next();
      if (z.custom<KoaContextWithOIDC>().parse(ctx).oidc.entities.DeviceCode) await attempt.succeed();
    } catch (error) {
      if (!(error instanceof TooManyAttemptsError)) throw error;
      ctx.status = 429;
      ctx.set('Retry-After', String(error.retryAfterSeconds));
      pages.tooManyCodes(z.custom<KoaContextWithOIDC>().parse(ctx));
    }
  };
