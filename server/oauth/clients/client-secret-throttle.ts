import type { Request } from 'express';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { TooManyAttemptsError, type AttemptLimits } from '../brute-force/attempt-limits.ts';
import { findClientBefore } from './client-adapter.ts';
import { endpoints } from '../protocol/endpoints.ts';
import { readBody, replaceBody } from '../protocol/buffered-request-body.ts';

const clientAuthenticatedPaths = new Set<string>([
  endpoints.token,
  endpoints.revocation,
  endpoints.introspection,
  endpoints.pushed_authorization_request,
  endpoints.device_authorization,
]);
const expressRequest = z.custom<Request>();
const invalidClientBody = z.object({ error: z.literal('invalid_client') });

/**
 * Limits wrong client secrets to ten per client and network, so that an attacker elsewhere cannot lock a client out. Counts attempts
 * before the request transaction starts, because a rollback would undo the count.
 */
export const limitClientSecrets =
  (em: Em, limits: AttemptLimits): Middleware =>
  async (ctx, next) => {
    const presented = ctx.method === 'POST' && clientAuthenticatedPaths.has(ctx.path) ? await readPresentedClient(ctx) : undefined;
    if (!presented?.withSecret) {
      if (presented) await findClientBefore(em, ctx, presented.clientId);
      await next();
      return;
    }
    const { clientId } = presented;
    const { ip } = expressRequest.parse(ctx.req);
    const source = { address: ip };
    try {
      await Promise.all([limits.refuseGuesser('clientSecret', clientId, source), findClientBefore(em, ctx, clientId)]);
      await next();
      if (ctx.status === 401 && invalidClientBody.safeParse(ctx.body).success) await limits.begin('clientSecret', clientId, source);
    } catch (error) {
      if (!(error instanceof TooManyAttemptsError)) throw error;
      ctx.status = 429;
      ctx.set('Retry-After', String(error.retryAfterSeconds));
      ctx.body = { error: 'invalid_client', error_description: 'too many wrong secrets: wait before the next request' };
    }
  };

/** Returns the client ID of a request, and whether the request contains a client secret. */
async function readPresentedClient(ctx: Context): Promise<{ clientId: string; withSecret: boolean } | undefined> {
  const basic = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(ctx.get('authorization'))?.[1];
  if (basic !== undefined) return { clientId: Buffer.from(basic, 'base64').toString().split(':', 1)[0] ?? '', withSecret: true };
  if (!ctx.is('application/x-www-form-urlencoded')) return undefined;
  const body = await readBody(ctx);
  replaceBody(ctx, body);
  const form = new URLSearchParams(body.toString());
  return { clientId: form.get('client_id') ?? '', withSecret: form.has('client_secret') };
}
