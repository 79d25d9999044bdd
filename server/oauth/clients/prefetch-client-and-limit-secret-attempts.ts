import type { Request } from 'express';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { TooManyAttemptsError, type AttemptLimiter } from '../brute-force/attempt-limiter.ts';
import { prefetchPublishedClientKeys, decodeUnverifiedClientAssertion } from './validate-client-assertion-and-load-keys.ts';
import type { ClientKeyCache } from './client-key-cache.ts';
import { prefetchClient } from './oidc-client-adapter.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { readForm } from '../protocol/buffered-request-body.ts';

const clientAuthenticatedPaths = new Set<string>([
  oauthEndpointPaths.token,
  oauthEndpointPaths.revocation,
  oauthEndpointPaths.introspection,
  oauthEndpointPaths.pushed_authorization_request,
  oauthEndpointPaths.device_authorization,
]);
const expressRequest = z.custom<Request>();
const invalidClientBody = z.object({ error: z.literal('invalid_client') });

export type ClientPrefetchOptions = {
  readonly em: EntityManager;
  readonly limits: AttemptLimiter;
  readonly clientKeys: ClientKeyCache;
};

/**
 * Limits the number of wrong client secrets to ten per client and network, so that an attacker on another network cannot lock a client out.
 * Counts attempts outside the request transaction, because a rollback would undo the count. Also loads the keys of a client that sends an
 * assertion instead of a secret.
 */
export const prefetchClientAndLimitSecretAttempts =
  ({ em, limits, clientKeys }: ClientPrefetchOptions): Middleware =>
  async (ctx, next) => {
    const presented = ctx.method === 'POST' && clientAuthenticatedPaths.has(ctx.path) ? await readPresentedClient(ctx) : undefined;
    if (!presented?.withSecret) {
      if (presented) await prefetchClient(em, ctx.req, presented.clientId);
      if (presented?.assertion) await prefetchPublishedClientKeys(clientKeys, ctx.req, presented.assertion.kid);
      await next();
      return;
    }
    const { clientId } = presented;
    const { ip } = expressRequest.parse(ctx.req);
    const source = { address: ip };
    try {
      await Promise.all([limits.rejectIfLimited('clientSecret', clientId, source), prefetchClient(em, ctx.req, clientId)]);
      await next();
      if (ctx.status === 401 && invalidClientBody.safeParse(ctx.body).success) await limits.countAttempt('clientSecret', clientId, source);
    } catch (error) {
      if (!(error instanceof TooManyAttemptsError)) throw error;
      ctx.status = 429;
      ctx.set('Retry-After', String(error.retryAfterSeconds));
      ctx.body = { error: 'invalid_client', error_description: 'too many wrong secrets: wait before the next request' };
    }
  };

type PresentedClient = {
  readonly clientId: string;
  readonly withSecret: boolean;
  /** The client assertion (RFC 7523), which has not been verified. */
  readonly assertion?: ReturnType<typeof decodeUnverifiedClientAssertion>;
};

/** Returns a request's client ID, and how the request authenticates the client. */
async function readPresentedClient(ctx: Context): Promise<PresentedClient | undefined> {
  const basic = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(ctx.get('authorization'))?.[1];
  if (basic !== undefined) return { clientId: Buffer.from(basic, 'base64').toString().split(':', 1)[0] ?? '', withSecret: true };
  if (!ctx.is('application/x-www-form-urlencoded')) return undefined;
  const form = await readForm(ctx);
  const assertion = form.get('client_assertion');
  if (assertion !== null && !form.has('client_secret')) {
    const unverified = decodeUnverifiedClientAssertion(assertion);
    return { clientId: unverified.clientId, withSecret: false, assertion: unverified };
  }
  return { clientId: form.get('client_id') ?? '', withSecret: form.has('client_secret') };
}
