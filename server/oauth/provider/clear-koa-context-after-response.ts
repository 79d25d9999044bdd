import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { z } from 'zod';
import { getOauthRequestContext, type OauthRequestContext } from '../protocol/oauth-request-context.ts';

const providerContext = z.custom<NonNullable<OauthRequestContext['koaContext']>>();

/** Stores the koa context of each request, so that `clearKoaContextAfterResponse` can clear it. */
export const storeKoaContextForClearing: Middleware = (ctx, next) => {
  getOauthRequestContext(ctx.req).koaContext = providerContext.parse(ctx);
  return next();
};

/**
 * Clears a request's koa context when the response has been sent. oidc-provider defines a getter (`ctx.oidc`) on every context, and V8
 * allocates getters in the old generation. If the context were not cleared, the request and everything it references would survive until
 * the next major GC.
 */
export function clearKoaContextAfterResponse(req: IncomingMessage, res: ServerResponse): void {
  if (res.closed) clearContext(req);
  else res.once('close', () => clearContext(req));
}

function clearContext(req: IncomingMessage): void {
  const { koaContext: context } = getOauthRequestContext(req);
  for (const part of [context?.oidc, context]) if (part) for (const key of Reflect.ownKeys(part)) Reflect.set(part, key, undefined);
}
