import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { reduceChunkedBodyLimitTo } from '../../http/request/reject-chunked-body-over-limit.ts';
import { findDuplicateKeyInText } from '../../http/validation/json-complexity-and-duplicate-keys.ts';
import { oauthEndpointPaths } from './endpoint-paths-and-audiences.ts';
import { getOauthRequestContext } from './oauth-request-context.ts';

/** oidc-provider's size limit for request bodies. Reading stops when a body exceeds this limit; oidc-provider then rejects the request. */
const bodyBytesMax = 56 * 1024;

const formEndpoints = new Set<string>([
  oauthEndpointPaths.token,
  oauthEndpointPaths.revocation,
  oauthEndpointPaths.introspection,
  oauthEndpointPaths.code_verification,
  oauthEndpointPaths.device_authorization,
  oauthEndpointPaths.pushed_authorization_request,
]);

/**
 * Reads the whole body before a transaction starts, so that a slow client cannot keep a transaction open. Client registration is the only
 * endpoint that accepts JSON. A duplicate key in a JSON object is rejected in the registration error format (RFC 7591, section 3.2.2).
 */
export const bufferBodyAndRejectDuplicateKeys: Middleware = async (ctx, next) => {
  reduceChunkedBodyLimitTo(ctx.req, bodyBytesMax);
  const acceptsJson = ctx.path === oauthEndpointPaths.registration;
  if (ctx.method === 'POST' && (acceptsJson || formEndpoints.has(ctx.path))) {
    const body = await readChunks(ctx);
    const duplicate = acceptsJson ? findDuplicateKeyInText(body) : undefined;
    if (duplicate !== undefined) {
      rejectDuplicateKey(ctx, duplicate);
      return;
    }
    replaceRequestBody(ctx, body);
  }
  await next();
};

function rejectDuplicateKey(ctx: Context, pointer: string): void {
  ctx.status = 400;
  ctx.set('cache-control', 'no-store');
  ctx.body = { error: 'invalid_client_metadata', error_description: `duplicate key in an object: ${pointer}` };
}

const bufferStream = z.custom<AsyncIterable<Buffer>>();

/** Returns the buffered body, or reads the body from the request. */
export async function readBodyFromBufferOrStream(ctx: Context): Promise<Buffer> {
  return getOauthRequestContext(ctx.req).body ?? readChunks(ctx);
}

/** Returns the fields of a form body. */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  const context = getOauthRequestContext(ctx.req);
  context.form ??= new URLSearchParams((context.body ?? (await readChunks(ctx))).toString());
  return context.form;
}

async function readChunks(ctx: Context): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of bufferStream.parse(ctx.req.iterator({ destroyOnReturn: false }))) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > bodyBytesMax) break;
  }
  return Buffer.concat(chunks);
}

/** Makes subsequent readers of the request receive `body`, because the stream has already been consumed. */
export function replaceRequestBody(ctx: Context, body: Buffer): void {
  const context = getOauthRequestContext(ctx.req);
  if (context.body === body) return;
  context.body = body;
  context.form = undefined;
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
