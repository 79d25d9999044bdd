import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { defineObjectMetadata } from '../../memory/object-metadata.ts';

type ProviderContext = Partial<Pick<KoaContextWithOIDC, 'oidc'>> & object;

const providerContext = z.custom<ProviderContext>();
const contexts = defineObjectMetadata<ProviderContext>('context');

/** Stores each request's koa context for `releaseContextAfterResponse`. */
export const captureKoaContext: Middleware = (ctx, next) => {
  contexts.set(ctx.req, providerContext.parse(ctx));
  return next();
};

/**
 * Clears a request's koa context when the response has been sent. oidc-provider defines a getter (`ctx.oidc`) on every context, and V8
 * allocates getters in the old generation. If the context were not cleared, the request and everything it references would survive until
 * the next major GC.
 */
export function releaseContextAfterResponse(req: IncomingMessage, res: ServerResponse): void {
  if (res.closed) clearContext(req);
  else res.once('close', () => clearContext(req));
}

function clearContext(req: IncomingMessage): void {
  const context = contexts.get(req);
  for (const part of [context?.oidc, context]) if (part) for (const key of Reflect.ownKeys(part)) Reflect.set(part, key, undefined);
}
