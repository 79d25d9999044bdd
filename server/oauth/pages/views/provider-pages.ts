import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { Html } from './html.ts';
import { deviceVerificationPages } from './device-flow-pages.ts';
import type { Setting } from './page-layout.ts';
import { pageHeaders } from '../assets/page-security-headers.ts';
import { confirmSignOutPage, failurePage, signedOutPage } from './message-pages.ts';

/** Pages that the endpoints of oidc-provider render. */
export type ProtocolPages = ReturnType<typeof protocolPages>;

export function protocolPages(setting: Setting, issuer: string) {
  const show = (ctx: KoaContextWithOIDC, html: Html, returnTo?: string): void => {
    ctx.type = 'html';
    ctx.set(pageHeaders(issuer, returnTo));
    ctx.body = html.toString();
  };
  return {
    ...deviceVerificationPages(setting, issuer),
    renderError: async (ctx: KoaContextWithOIDC, { error, error_description: description }: ErrorOut): Promise<void> => {
      const { failure } = setting.words;
      if (error === 'server_error') return show(ctx, failurePage(setting, failure.title, failure.text));
      if (ctx.oidc.route === 'resume') return show(ctx, failurePage(setting, failure.expiredTitle, failure.expired));
      return show(ctx, failurePage(setting, failure.badRequestTitle, failure.badRequest, `${error}: ${description ?? ''}`));
    },
    sessionMissing: (ctx: KoaContextWithOIDC): void => {
      ctx.status = 400;
      show(ctx, failurePage(setting, setting.words.failure.expiredTitle, setting.words.failure.expired));
    },
    confirmSignOut: async (ctx: KoaContextWithOIDC, form: string): Promise<void> => {
      const returnTo = ctx.oidc.params?.['post_logout_redirect_uri'];
      show(ctx, confirmSignOutPage(setting, new Html(form)), typeof returnTo === 'string' ? returnTo : undefined);
    },
    signedOut: async (ctx: KoaContextWithOIDC): Promise<void> => {
      const { accountId } = await ctx.oidc.provider.Session.get(ctx);
      if (accountId === undefined) show(ctx, signedOutPage(setting));
      else ctx.redirect('/account'); // the user chose to stay signed in
    },
  };
}
