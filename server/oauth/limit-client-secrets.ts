import type { Request } from 'express';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { TooManyAttemptsError, type AttemptLimits } from './attempt-limits.ts';
import { endpoints } from './endpoints.ts';
import { readBody, replaceBody } from './request-body.ts';

const authenticatesClients = new Set<string>([
  endpoints.token,
  endpoints.revocation,
  endpoints.introspection,
  endpoints.pushed_authorization_request,
  endpoints.device_authorization,
]);
const refusedBody = z.object({ error: z.literal('invalid_client') });

/**
 * Guesses at client secrets end after ten. They are counted for one application from one network, so that nobody can shut
 * out an application by guessing at its secret. Before the token transaction, which would undo the counting.
 */
export const limitClientSecrets =
  (limits: AttemptLimits): Middleware =>
  async (ctx, next) => {
    const clientId = ctx.method === 'POST' && authenticatesClients.has(ctx.path) ? await presentedClient(ctx) : undefined;
    if (clientId === undefined) {
      await next();
      return;
    }
    const { ip } = z.custom<Request>().parse(ctx.req);
    const what = `${clientId} ${ip ?? ''}`;
    try {
      await limits.refuseGuesser('clientSecret', what, ip);
      await next();
      if (ctx.status === 401 && refusedBody.safeParse(ctx.body).success) await limits.begin('clientSecret', what, ip);
    } catch (error) {
      if (!(error instanceof TooManyAttemptsError)) throw error;
      ctx.status = 429;
      ctx.set('Retry-After', String(error.retryAfterSeconds));
      ctx.body = { error: 'invalid_client', error_description: 'too many wrong secrets: wait before the next request' };
    }
  };

/** The application a secret is presented for; undefined when there is no secret, and so nothing to guess. */
async function presentedClient(ctx: Context): Promise<string | undefined> {
  const basic = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(ctx.get('authorization'))?.[1];
  if (basic !== undefined) return Buffer.from(basic, 'base64').toString().split(':', 1)[0];
  if (!ctx.is('application/x-www-form-urlencoded')) return undefined;
  const body = await readBody(ctx);
  replaceBody(ctx, body);
  const form = new URLSearchParams(body.toString());
  return form.has('client_secret') ? (form.get('client_id') ?? '') : undefined;
}
