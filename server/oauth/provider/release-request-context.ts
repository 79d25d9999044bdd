import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { defineObjectMetadata } from '../../memory/object-metadata.ts';

type ProviderContext = Partial<Pick<KoaContextWithOIDC, 'oidc'>> & object;

const providerContext = z.custom<ProviderContext>();
const contexts = defineObjectMetadata<ProviderContext>('context');

/** Remembers the koa context of each request for `releaseContextAfterResponse`. */
export const captureKoaContext: Middleware = (ctx, next) => {
  contexts.set(ctx.req, providerContext.parse(ctx));
  return next();
};

/**
 * Clears the koa context of a request when its response has been sent. oidc-provider defines a getter (`ctx.oidc`) on every context, and V8
 * allocates getters in the old generation. Without this, the request and everything it refers to would survive until the next major GC.
 */
export function releaseContextAfterResponse(req: IncomingMessage, res: ServerResponse): void {
  if (res.closed) clearContext(req);
  else res.once('close', () => clearContext(req));
}

function clearContext(req: IncomingMessage): void {
  const context = contexts.get(req);
  for (const part of [context?.oidc, context]) if (part) for (const key of Reflect.ownKeys(part)) Reflect.set(part, key, undefined);
}
