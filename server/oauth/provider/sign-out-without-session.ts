import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import type { OidcPageHandlers } from '../pages/views/oidc-provider/oidc-provider-pages.ts';

const providerContext = z.custom<KoaContextWithOIDC>();
const signOutRequest = z.object({ postLogoutRedirectUri: z.string().optional(), state: z.string().optional() }).catch({});

/**
 * Completes a sign-out request from a browser without a session. Such a request requires no confirmation. oidc-provider would respond with
 * a page that submits itself with an inline script. Instead, this middleware redirects to the post-logout redirect URI, which oidc-provider
 * has validated, or shows the signed-out page.
 */
export const completeSignOutWithoutSession =
  (pages: Pick<OidcPageHandlers, 'signedOut'>): Middleware =>
  async (ctx, next) => {
    await next();
    if (ctx.path !== oauthEndpointPaths.end_session || ctx.status !== 200) return;
    const context = providerContext.parse(ctx);
    const { session } = context.oidc;
    if (!session || session.accountId !== undefined) return;
    const { postLogoutRedirectUri, state } = signOutRequest.parse(session.state);
    if (postLogoutRedirectUri === undefined) return pages.signedOut(context);
    const url = new URL(postLogoutRedirectUri);
    if (state !== undefined) url.searchParams.set('state', state);
    ctx.status = 303;
    ctx.redirect(url.href);
  };
