import type { Request, Response } from 'express';
import { errors, type Provider } from 'oidc-provider';
import type { EntityManager } from '../../../database/entity-manager/entity-manager-type.ts';
import type { EventLongPoller } from '../../../events/event-long-poll.ts';
import type { AttemptLimiter } from '../../brute-force/attempt-limiter.ts';
import type { CsrfTokenService } from './csrf-token-service.ts';
import type { KnownBrowserCookie } from '../../brute-force/known-browser-cookie.ts';
import type { Html } from '../../../http/response/html-template.ts';
import type { PageSettings } from '../views/page-layout-and-form-fields.ts';
import { getOauthRequestContext } from '../../protocol/oauth-request-context.ts';
import { localizePageSettingsForRequest, setPageLanguageHeaders } from '../views/select-and-store-page-language.ts';
import type { RelyingParty } from '../../identity-providers/relying-party.ts';
import type { StatelessPasskeyChallenges } from '../../second-factors/passkeys.ts';
import type { OnTokenOperation } from '../../provider/report-token-operations.ts';
import type { CustomerOrdersReader } from '../../accounts/customer-orders-reader-type.ts';
import { createPageSecurityHeaders } from '../assets/page-security-headers.ts';

/** Dependencies shared by the page handlers. */
export type PageContext = {
  readonly em: EntityManager;
  readonly provider: Provider;
  /** The settings in the language of the request (`localizePageContext`). */
  readonly settings: PageSettings;
  readonly forms: CsrfTokenService;
  readonly limits: AttemptLimiter;
  readonly knownBrowsers: KnownBrowserCookie;
  /** Whether the server can send e-mail. Without a mail transport, features that require e-mail are disabled. */
  readonly canMail: boolean;
  readonly keys: { readonly mail: Buffer; readonly secondFactor: Buffer; readonly identityProviders: Buffer };
  /** This server's client for identity providers. */
  readonly relyingParty: RelyingParty;
  readonly log: { error(details: object, message: string): void };
  readonly challenges: StatelessPasskeyChallenges;
  /** Returns the currencies in which orders can be placed. */
  readonly listOrderCurrencies: (em: EntityManager) => Promise<readonly string[]>;
  /** Returns up to `maximum` categories of the products for sale, sorted by name. */
  readonly listProductCategories: (em: EntityManager, maximum: number) => Promise<readonly string[]>;
  readonly orders: CustomerOrdersReader;
  /** Lets pages with a live region wait for events. */
  readonly newEvents: EventLongPoller;
  /** Called when a user revokes access. */
  readonly onTokenOperation: OnTokenOperation;
};

export type Interaction = InstanceType<Provider['Interaction']>;

/**
 * Returns the context for the pages of one request. `settings` is a getter, because the language of the pages may depend on data that a
 * handler loads.
 */
export const localizePageContext = (context: PageContext, req: Request): PageContext => ({
  ...context,
  get settings() {
    return localizePageSettingsForRequest(context.settings, req);
  },
});

/** Sends an HTML page with its security headers. */
export function sendPage(
  { provider, settings }: PageContext,
  res: Response,
  html: Html,
  { status = 200, returnTo, isLive }: { status?: number; returnTo?: string | undefined; isLive?: boolean } = {},
): void {
  setPageLanguageHeaders(res, settings);
  res
    .status(status)
    .set(createPageSecurityHeaders(provider.issuer, returnTo, isLive))
    .type('html')
    .send(html.toString());
}

/**
 * Returns the pending interaction of this page. A cookie in the browser identifies the interaction.
 * @throws errors.SessionNotFound if the cookie belongs to a different page or prompt
 */
export async function requirePendingInteraction(
  { provider }: PageContext,
  req: Request,
  res: Response,
  prompt: string,
): Promise<Interaction> {
  const interaction = await provider.interactionDetails(req, res);
  if (interaction.uid !== req.params['uid'] || interaction.prompt.name !== prompt) {
    throw new errors.SessionNotFound('the page belongs to another request');
  }
  getOauthRequestContext(req).uiLocales = getStringParameter(interaction.params, 'ui_locales');
  return interaction;
}

/** Deletes a pending interaction that the user has abandoned. */
export async function deleteInteraction({ provider }: PageContext, req: Request, res: Response, interaction: Interaction): Promise<void> {
  await interaction.destroy();
  const { cookies } = provider.createContext(req, res);
  cookies.set(provider.cookieName('interaction'), null, { path: `/consent/${interaction.uid}`, signed: true });
}

/** Returns the authorization request's validated redirect URI, or undefined for the device flow. */
export const getAuthorizationRequestRedirectUri = ({ params }: Interaction): string | undefined =>
  getStringParameter(params, 'redirect_uri');

export const getInteractionClientId = ({ params }: Interaction): string => getStringParameter(params, 'client_id') ?? '';

/** Returns the value of a request parameter, or undefined if the value is not a string. */
export function getStringParameter(params: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = params[name];
  return typeof value === 'string' ? value : undefined;
}
