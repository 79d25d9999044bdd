import type { Request } from 'express';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { TooManyAttemptsError, type AttemptLimits } from '../brute-force/attempt-limits.ts';
import { findClientBefore } from './client-adapter.ts';
import { endpoints } from '../protocol/endpoints.ts';
import { readBody, replaceBody } from '../protocol/buffered-request-body.ts';

const authenticatesClients = new Set<string>([
  endpoints.token,
  endpoints.revocation,
  endpoints.introspection,
  endpoints.pushed_authorization_request,
  endpoints.device_authorization,
]);
const expressRequest = z.custom<Request>();
const refusedBody = z.object({ error: z.literal('invalid_client') });

/**
 * Guesses at client secrets end after ten. They are counted for one application from one network, so that nobody can shut
 * out an application by guessing at its secret. Before the token transaction, which would undo the counting.
 */
export const limitClientSecrets =
  (em: Em, limits: AttemptLimits): Middleware =>
  async (ctx, next) => {
    const presented = ctx.method === 'POST' && authenticatesClients.has(ctx.path) ? await presentedClient(ctx) : undefined;
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
      if (ctx.status === 401 && refusedBody.safeParse(ctx.body).success) await limits.begin('clientSecret', clientId, source);
    } catch (error) {
      if (!(error instanceof TooManyAttemptsError)) throw error;
      ctx.status = 429;
      ctx.set('Retry-After', String(error.retryAfterSeconds));
      ctx.body = { error: 'invalid_client', error_description: 'too many wrong secrets: wait before the next request' };
    }
  };

/** The application a request says it comes from; without a secret there is nothing to guess. */
async function presentedClient(ctx: Context): Promise<{ clientId: string; withSecret: boolean } | undefined> {
  const basic = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(ctx.get('authorization'))?.[1];
  if (basic !== undefined) return { clientId: Buffer.from(basic, 'base64').toString().split(':', 1)[0] ?? '', withSecret: true };
  if (!ctx.is('application/x-www-form-urlencoded')) return undefined;
  const body = await readBody(ctx);
  replaceBody(ctx, body);
  const form = new URLSearchParams(body.toString());
  return { clientId: form.get('client_id') ?? '', withSecret: form.has('client_secret') };
}
