import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { endpoints } from '../protocol/endpoints.ts';

const { code_verification: devicePage } = endpoints;
const engineContext = z.custom<KoaContextWithOIDC>();
const withNewSession = z.object({ oidc: z.object({ session: z.object({ new: z.literal(true) }) }) });

/**
 * Requests to the device pages. A URL that has the code in it fills in the form and no more: the person still sees the code and confirms
 * it (RFC 8628, section 3.3.1). A request without a session, or with that of a session that is gone, gets a page (400): the library
 * renders its error page with a token that it stores in the session, and fails when there is none.
 */
export const devicePageRequests =
  (sessionMissing: (ctx: KoaContextWithOIDC) => void): Middleware =>
  async (ctx, next) => {
    if (ctx.method === 'GET' && ctx.path === devicePage) ctx.querystring = '';
    try {
      await next();
    } catch (error) {
      const isDevicePage = ctx.path === devicePage || ctx.path.startsWith(`${devicePage}/`);
      if (!isDevicePage || !withNewSession.safeParse(ctx).success) throw error;
      ctx.remove('Set-Cookie');
      sessionMissing(engineContext.parse(ctx));
    }
  };
