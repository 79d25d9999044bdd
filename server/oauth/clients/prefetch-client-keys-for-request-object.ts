import type { Context, Middleware } from 'koa';
import { readForm } from '../protocol/buffered-request-body.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { prefetchPublishedClientKeys } from './validate-client-assertion-and-load-keys.ts';
import { prefetchClient } from './oidc-client-adapter.ts';
import type { ClientPrefetchOptions } from './prefetch-client-and-limit-secret-attempts.ts';
import { readKeyIdOfRequestObject } from './signed-authorization-request-object.ts';

const { authorization, pushed_authorization_request: pushed, device_authorization: device } = oauthEndpointPaths;

/**
 * Loads the keys that the client publishes at its `jwks_uri`, if the request contains a request object. The request object of a pushed
 * request can be signed with a different key than the client assertion.
 */
export const prefetchClientKeysForRequestObject =
  ({ em, clientKeys }: Pick<ClientPrefetchOptions, 'em' | 'clientKeys'>): Middleware =>
  async (ctx, next) => {
    const { clientId, requestObject } = await readClientAndRequestObject(ctx);
    if (requestObject !== undefined) {
      // For requests to all other endpoints, the client has already been loaded.
      if (ctx.path === authorization && clientId !== undefined) await prefetchClient(em, ctx.req, clientId);
      await prefetchPublishedClientKeys(clientKeys, ctx.req, readKeyIdOfRequestObject(requestObject));
    }
    await next();
  };

type ClientAndRequestObject = { readonly clientId?: string | undefined; readonly requestObject?: string | undefined };

async function readClientAndRequestObject(ctx: Context): Promise<ClientAndRequestObject> {
  if (ctx.path === authorization) {
    const { client_id: clientId, request: requestObject } = ctx.query;
    return typeof clientId === 'string' && typeof requestObject === 'string' ? { clientId, requestObject } : {};
  }
  if (ctx.method !== 'POST' || (ctx.path !== pushed && ctx.path !== device) || !ctx.is('application/x-www-form-urlencoded')) return {};
  return { requestObject: (await readForm(ctx)).get('request') ?? undefined };
}
