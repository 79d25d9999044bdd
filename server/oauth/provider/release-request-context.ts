import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { noteOf } from '../../memory/object-metadata.ts';

type EngineContext = Partial<Pick<KoaContextWithOIDC, 'oidc'>> & object;

const engineContext = z.custom<EngineContext>();
const contexts = noteOf<EngineContext>('context');

/** A middleware of the engine: what `letGoWhenSent` lets go of. */
export const noteContext: Middleware = (ctx, next) => {
  contexts.set(ctx.req, engineContext.parse(ctx));
  return next();
};

/**
 * Once the engine is done with a request and its answer is sent. The engine gives each context a getter of its own (`ctx.oidc`), and V8
 * puts every getter among the old objects: the request, with all that was made of it, would stay until the next full collection.
 */
export function letGoWhenSent(req: IncomingMessage, res: ServerResponse): void {
  if (res.closed) letGo(req);
  else res.once('close', () => letGo(req));
}

function letGo(req: IncomingMessage): void {
  const context = contexts.get(req);
  for (const part of [context?.oidc, context]) if (part) for (const key of Reflect.ownKeys(part)) Reflect.set(part, key, undefined);
}
