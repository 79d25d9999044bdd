import type { Request } from 'express';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import type { EntityManager } from '../../../../database/entity-manager/entity-manager-type.ts';
import { Html } from '../../../../http/response/html-template.ts';
import { createDeviceVerificationPageHandlers } from './device-verification-pages.ts';
import { getOauthRequestContext } from '../../../protocol/oauth-request-context.ts';
import { loadSignedInAccountIntoRequestContext } from '../../../sessions/load-start-and-end-browser-session.ts';
import { languageParameter } from '../../layout/language-switch.ts';
import { localizePageSettingsForRequest } from '../select-and-store-page-language.ts';
import type { PageSettings } from '../page-layout-and-form-fields.ts';
import { createPageSecurityHeaders } from '../../assets/page-security-headers.ts';
import { confirmSignOutPage, errorPage, signedOutPage } from '../message-pages.ts';

/** Pages that oidc-provider's endpoints render. */
export type OidcPageHandlers = ReturnType<typeof createOidcPageHandlers>;

/** Routes to which the browser returns after the sign-in and the consent. oidc-provider deletes the pending request on the first visit. */
const routesThatWorkOnce = new Set(['resume', 'device_resume']);

export function createOidcPageHandlers(defaultSettings: PageSettings, issuer: string, em: EntityManager) {
  const show = (ctx: KoaContextWithOIDC, settings: PageSettings, html: Html, returnTo?: string): void => {
    ctx.type = 'html';
    ctx.set({ ...createPageSecurityHeaders(issuer, returnTo), 'Content-Language': settings.messages.language.tag });
    ctx.vary('Accept-Language');
    ctx.vary('Cookie');
    ctx.body = html.toString();
  };
  const localize = (ctx: KoaContextWithOIDC): PageSettings => {
    getOauthRequestContext(ctx.req).isShownOnlyOnce = routesThatWorkOnce.has(ctx.oidc?.route);
    return localizePageSettingsForRequest(defaultSettings, z.custom<Request>().parse(ctx.req));
  };
  /** Like `localize`, but also considers the language setting of the signed-in user. */
  const localizeForUser = async (ctx: KoaContextWithOIDC): Promise<PageSettings> => {
    const context = getOauthRequestContext(ctx.req);
    const locales = ctx.oidc.params?.['ui_locales'];
    if (typeof locales === 'string') context.uiLocales = locales;
    if (!context.signedInAccount) await loadSignedInAccountIntoRequestContext(em, ctx.req, ctx.oidc.session?.accountId);
    return localize(ctx);
  };
  return {
    ...createDeviceVerificationPageHandlers({ show, localize, localizeForUser }),
    renderError: async (ctx: KoaContextWithOIDC, { error, error_description: description }: ErrorOut): Promise<void> => {
      await defaultSettings.refreshBranding();
      const chosen = ctx.query[languageParameter];
      // The authorization endpoint uses the language parameter only for its error page. In all other cases, the endpoint
      // ignores this parameter (RFC 6749 section 3.1).
      if (typeof chosen === 'string') getOauthRequestContext(ctx.req).chosenLanguage = defaultSettings.languages.match(chosen)?.tag;
      const settings = await localizeForUser(ctx).catch(() => localize(ctx)); // the cause of the error may be an unreachable database
      const { failure } = settings.messages;
      if (error === 'server_error') return show(ctx, settings, errorPage(settings, failure.title, failure.text));
      if (ctx.oidc.route === 'resume') return show(ctx, settings, errorPage(settings, failure.expiredTitle, failure.expired));
      return show(
        ctx,
        settings,
        errorPage(settings, failure.badRequestTitle, failure.badRequest, { oauthError: `${error}: ${description ?? ''}` }),
      );
    },
    sessionMissing: (ctx: KoaContextWithOIDC): void => {
      const settings = localize(ctx);
      ctx.status = 400;
      show(ctx, settings, errorPage(settings, settings.messages.failure.expiredTitle, settings.messages.failure.expired));
    },
    confirmSignOut: async (ctx: KoaContextWithOIDC, form: string): Promise<void> => {
      const returnTo = ctx.oidc.params?.['post_logout_redirect_uri'];
      const settings = await localizeForUser(ctx);
      show(ctx, settings, confirmSignOutPage(settings, new Html(form)), typeof returnTo === 'string' ? returnTo : undefined);
    },
    signedOut: async (ctx: KoaContextWithOIDC): Promise<void> => {
      const { accountId } = await ctx.oidc.provider.Session.get(ctx);
      const settings = await localizeForUser(ctx);
      if (accountId === undefined) show(ctx, settings, signedOutPage(settings));
      else ctx.redirect('/account'); // the user chose to stay signed in
    },
  };
}
