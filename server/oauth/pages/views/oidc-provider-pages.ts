import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { Html } from '../../../http/response/html-template.ts';
import { createDeviceVerificationPages } from './device-verification-pages.ts';
import type { PageSettings } from './page-layout-and-form-fields.ts';
import { createPageSecurityHeaders } from '../assets/page-security-headers.ts';
import { confirmSignOutPage, errorPage, signedOutPage } from './message-pages.ts';

/** Pages that oidc-provider's endpoints render. */
export type ProviderPages = ReturnType<typeof createOidcProviderPages>;

export function createOidcProviderPages(settings: PageSettings, issuer: string) {
  const show = (ctx: KoaContextWithOIDC, html: Html, returnTo?: string): void => {
    ctx.type = 'html';
    ctx.set(createPageSecurityHeaders(issuer, returnTo));
    ctx.body = html.toString();
  };
  return {
    ...createDeviceVerificationPages(settings, issuer),
    renderError: async (ctx: KoaContextWithOIDC, { error, error_description: description }: ErrorOut): Promise<void> => {
      await settings.refreshBranding();
      const { failure } = settings.messages;
      if (error === 'server_error') return show(ctx, errorPage(settings, failure.title, failure.text));
      if (ctx.oidc.route === 'resume') return show(ctx, errorPage(settings, failure.expiredTitle, failure.expired));
      return show(ctx, errorPage(settings, failure.badRequestTitle, failure.badRequest, `${error}: ${description ?? ''}`));
    },
    sessionMissing: (ctx: KoaContextWithOIDC): void => {
      ctx.status = 400;
      show(ctx, errorPage(settings, settings.messages.failure.expiredTitle, settings.messages.failure.expired));
    },
    confirmSignOut: async (ctx: KoaContextWithOIDC, form: string): Promise<void> => {
      const returnTo = ctx.oidc.params?.['post_logout_redirect_uri'];
      show(ctx, confirmSignOutPage(settings, new Html(form)), typeof returnTo === 'string' ? returnTo : undefined);
    },
    signedOut: async (ctx: KoaContextWithOIDC): Promise<void> => {
      const { accountId } = await ctx.oidc.provider.Session.get(ctx);
      if (accountId === undefined) show(ctx, signedOutPage(settings));
      else ctx.redirect('/account'); // the user chose to stay signed in
    },
  };
}
