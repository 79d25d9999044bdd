import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { endpoints } from '../protocol/endpoints.ts';
import type { ProtocolPages } from '../pages/views/provider-pages.ts';

const engineContext = z.custom<KoaContextWithOIDC>();
const signOutRequest = z.object({ postLogoutRedirectUri: z.string().optional(), state: z.string().optional() }).catch({});

/**
 * Without a session there is nothing to confirm, and the library responds with a page that submits itself by an inline script. Here the
 * user is redirected to the application, whose URI the library has checked, or sees that they are signed out.
 */
export const signOutWithoutSession =
  (pages: Pick<ProtocolPages, 'signedOut'>): Middleware =>
  async (ctx, next) => {
    await next();
    if (ctx.path !== endpoints.end_session || ctx.status !== 200) return;
    const context = engineContext.parse(ctx);
    const { session } = context.oidc;
    if (!session || session.accountId !== undefined) return;
    const { postLogoutRedirectUri, state } = signOutRequest.parse(session.state);
    if (postLogoutRedirectUri === undefined) return pages.signedOut(context);
    const url = new URL(postLogoutRedirectUri);
    if (state !== undefined) url.searchParams.set('state', state);
    ctx.status = 303;
    ctx.redirect(url.href);
  };
