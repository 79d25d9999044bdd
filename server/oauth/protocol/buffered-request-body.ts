import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { limitChunkSizes } from '../../http/request/chunked-body-size.ts';
import { findDuplicateKeyInText } from '../../http/validation/json-measure.ts';
import { noteOf } from '../../memory/object-metadata.ts';
import { endpoints } from './endpoints.ts';

/** The library's own limit: of a longer body only so much is read that it refuses it. */
const bodyMax = 56 * 1024;

const takesForms = new Set<string>([
  endpoints.token,
  endpoints.revocation,
  endpoints.introspection,
  endpoints.code_verification,
  endpoints.device_authorization,
  endpoints.pushed_authorization_request,
]);

/**
 * Waits for the body before anything is held for the request: a caller who sends slowly must not keep a transaction open. JSON that has
 * one key twice in an object is refused in the form of client registration, which alone takes JSON (RFC 7591, section 3.2.2).
 */
export const bodyFirst: Middleware = async (ctx, next) => {
  limitChunkSizes(ctx.req, bodyMax);
  const takesJson = ctx.path === endpoints.registration;
  if (ctx.method === 'POST' && (takesJson || takesForms.has(ctx.path))) {
    const body = await readBody(ctx);
    const duplicate = takesJson ? findDuplicateKeyInText(body) : undefined;
    if (duplicate !== undefined) {
      refuseDuplicateKey(ctx, duplicate);
      return;
    }
    replaceBody(ctx, body);
  }
  await next();
};

function refuseDuplicateKey(ctx: Context, pointer: string): void {
  ctx.status = 400;
  ctx.set('cache-control', 'no-store');
  ctx.body = { error: 'invalid_client_metadata', error_description: `one key occurs twice in an object: ${pointer}` };
}

const chunksOf = z.custom<AsyncIterable<Buffer>>();
const replaced = noteOf<Buffer>('replaced body');

export async function readBody(ctx: Context): Promise<Buffer> {
  return replaced.get(ctx.req) ?? readChunks(ctx);
}

async function readChunks(ctx: Context): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunksOf.parse(ctx.req.iterator({ destroyOnReturn: false }))) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > bodyMax) break;
  }
  return Buffer.concat(chunks);
}

/** The request's stream has been read; whoever reads it from here on reads this instead. */
export function replaceBody(ctx: Context, body: Buffer): void {
  if (replaced.get(ctx.req) === body) return;
  replaced.set(ctx.req, body);
  ctx.req.headers['content-length'] = String(body.length);
  Object.defineProperties(ctx.req, {
    readable: { value: true, configurable: true },
    iterator: {
      value: async function* replacement() {
        yield body;
      },
      configurable: true,
    },
  });
}
