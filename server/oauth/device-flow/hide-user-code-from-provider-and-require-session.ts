import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';

const { code_verification: devicePage } = oauthEndpointPaths;
const providerContext = z.custom<KoaContextWithOIDC>();
const newSessionContext = z.object({ oidc: z.object({ session: z.object({ new: z.literal(true) }) }) });

/**
 * Requires a browser session for requests to the device pages. A request without a session, or with an expired session, receives an error
 * page with status 400. oidc-provider would fail on such a request, because oidc-provider's error page contains a token from the session.
 *
 * Hides a code in the URL from oidc-provider, which would use a script to submit the code. The page reads the code from the original URL,
 * and the user confirms the code on that page (RFC 8628 section 3.3.1).
 */
export const hideUserCodeFromProviderAndRequireSession =
  (sessionMissing: (ctx: KoaContextWithOIDC) => void): Middleware =>
  async (ctx, next) => {
    if (ctx.method !== 'POST' && ctx.path === devicePage) ctx.querystring = '';
    try {
      await next();
    } catch (error) {
      const isDevicePage = ctx.path === devicePage || ctx.path.startsWith(`${devicePage}/`);
      if (!isDevicePage || !newSessionContext.safeParse(ctx).success) throw error;
      ctx.remove('Set-Cookie');
      sessionMissing(providerContext.parse(ctx));
    }
  };
