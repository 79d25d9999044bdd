import { createHmac } from 'node:crypto';
import express from 'express';
import type { AdapterFactory, Provider } from 'oidc-provider';
import { ensureCommandLineClient } from '../applications/ensure-command-line-client.ts';
import { ensureConsoleClient } from '../applications/ensure-console-client.ts';
import { ensureApiReferencePageClient } from '../applications/ensure-api-reference-page-client.ts';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { EventLongPoller } from '../events/event-long-poll.ts';
import { mcpCors } from '../http/middleware/cors.ts';
import type { ClientCertificateOptions } from '../http/request/client-certificate.ts';
import type { VerifyAccessToken } from '../http/request/principal-and-token-types.ts';
import type { OnEmailAddressChange } from '../http/routing/handler-dependencies.ts';
import { bundledLanguages, type Languages } from '../languages/languages.ts';
import type { DerivedKeys } from '../crypto/derived-keys-and-server-secret.ts';
import { createApprovalRequestMailer } from './pages/emails/send-approval-request-email.ts';
import { deleteLinksAndMailOldAndNewAddress } from './pages/emails/delete-links-and-notify-on-email-change.ts';
import {
  apiAudienceFromIssuer,
  oidcProviderRoutePatterns,
  oauthEndpointPaths,
  mcpAudienceFromIssuer,
} from './protocol/endpoint-paths-and-audiences.ts';
import { createDatabaseAttemptLimiter, type AttemptLimiter } from './brute-force/attempt-limiter.ts';
import { createPublicAddressesOnlyNetworkPolicy, type NetworkPolicy } from '../outgoing-http/ssrf-protected-connection.ts';
import { setRevokedGrantIdOfRequest } from './grants/run-request-in-transaction.ts';
import { cookieNamesForIssuer } from './protocol/cookie-names.ts';
import { createOidcProvider } from './provider/create-oidc-provider.ts';
import { createOidcProviderMiddleware } from './create-oidc-provider-middleware.ts';
import { CsrfTokenService } from './pages/routing/csrf-token-service.ts';
import { acceptJwtsAtUserinfo } from './tokens/customize-jwt-access-tokens.ts';
import { KnownBrowserCookie } from './brute-force/known-browser-cookie.ts';
import { recordClientAuthenticationFailureReasons } from './clients/record-client-authentication-failure-reasons.ts';
import { ClientKeyCache } from './clients/client-key-cache.ts';
import { requireIssuerHost } from './provider/require-issuer-host.ts';
import type { PageContext } from './pages/routing/page-context.ts';
import { createPageErrorHandler, sendCrossSiteErrorPage, sendWrongHostErrorPage } from './pages/routing/page-error-handler.ts';
import { emptyCustomerOrdersReader, type CustomerOrdersReader } from './accounts/customer-orders-reader-type.ts';
import { createIdentityProviderPostRouter } from './pages/handlers/identity-providers/provider-callback-and-logout-post-router.ts';
import { createPageRouter } from './pages/page-routes.ts';
import type { PageSettings } from './pages/views/page-layout-and-form-fields.ts';
import { createSettingsSharedByAllPages } from './pages/create-page-settings.ts';
import { LastReadBranding } from '../branding/last-read-branding.ts';
import { readShopLogo } from '../branding/read-and-write-branding.ts';
import { readIdentityProviderLogoByHash } from '../identity-providers/save-identity-provider.ts';
import { logoPathPattern } from '../logos/logo-path.ts';
import { serveLogo } from '../logos/serve-logo.ts';
import { pageEnhancementScript } from './pages/assets/page-enhancement-script.ts';
import { servePageScript } from './pages/assets/serve-page-script.ts';
import { createOidcPageHandlers } from './pages/views/oidc-provider/oidc-provider-pages.ts';
import { serveStylesheet, stylesheetPathPattern } from './pages/assets/build-and-serve-page-stylesheet.ts';
import { StatelessPasskeyChallenges } from './second-factors/passkeys.ts';
import { createProviderAccountCheckAfterRefresh } from './refresh/create-provider-account-check-after-refresh.ts';
import { defaultRefreshGraceSeconds } from './refresh/default-refresh-grace.ts';
import { rejectCrossSiteOidcProviderForms } from './pages/routing/reject-cross-site-forms.ts';
import { ReloadableOidcProvider } from './provider/reloadable-oidc-provider.ts';
import { RelyingParty } from './identity-providers/relying-party.ts';
import { createCacheWithLoadedOrNewSigningKeys, type SigningKeyCacheOptions } from './signing-keys/rotating-signing-key-cache.ts';
import { formPostToGetRedirectMiddlewares } from './provider/redirect-form-to-get.ts';
import { createPostgresAdapterFactory } from './provider/postgres-adapter.ts';
import type { OnTokenOperation } from './provider/report-token-operations.ts';
import { createOidcCookieRenamingMiddleware } from './provider/translate-oidc-provider-cookies.ts';
import { deriveOidcProviderKeys } from './provider/derive-oidc-provider-keys.ts';
import { DpopNonces } from './tokens/dpop-nonces.ts';
import { createAccessTokenVerifier } from './tokens/verify-access-token.ts';
import { createServerErrorRecorder } from './provider/fix-oidc-provider-responses.ts';

export type CreateAuthorizationServerOptions = {
  readonly db: Database;
  readonly issuer: string;
  readonly keys: Pick<DerivedKeys, 'cookies' | 'signingKeys' | 'mail' | 'secondFactor' | 'identityProviders'>;
  readonly log: { error(details: object, message: string): void };
  /** Whether the server can send logout tokens to HTTP URLs on the loopback interface (default: false). */
  readonly development?: boolean;
  /** Creates the storage adapters for codes and tokens (default: PostgreSQL). Tests replace this factory to inject faults. */
  readonly store?: (em: EntityManager) => AdapterFactory;
  /** Rotation schedule and reload interval for the signing keys. Tests shorten both. */
  readonly signingKeys?: SigningKeyCacheOptions;
  /** Limits attempts to guess passwords, codes and client secrets (default: a limiter with counters in the database). */
  readonly limits?: AttemptLimiter;
  /** Whether the server can send e-mail; false if no mail transport is configured. */
  readonly canMail?: boolean;
  /** Whether clients can register without an initial access token (RFC 7591). */
  readonly openRegistration?: boolean;
  /**
   * Network policy for fetching client ID metadata documents and client keys (default: public addresses only). Tests replace this policy.
   */
  readonly documentNetwork?: NetworkPolicy;
  /** Returns the currencies in which orders can be placed, for the limits on the consent page (default: none). */
  readonly listOrderCurrencies?: PageContext['listOrderCurrencies'] | undefined;
  /** Returns the categories of the products for sale, for the limits on the consent page (default: none). */
  readonly listProductCategories?: PageContext['listProductCategories'] | undefined;
  /** Reads the orders that the account pages show (default: no orders). */
  readonly orders?: CustomerOrdersReader;
  /** Lets requests wait for new events (default: a new instance). */
  readonly newEvents?: EventLongPoller | undefined;
  /** Called for every token that is issued, denied or revoked. */
  readonly onTokenOperation?: OnTokenOperation | undefined;
  /** Languages of pages, e-mails and error responses (default: the catalogs in `languages/catalogs`). */
  readonly languages?: Languages;
  /** Time in seconds during which a repeated refresh request receives the original response; 0 disables this replay. */
  readonly refreshGraceSeconds?: number;
  /** Source of client certificates, and the authorities that may issue them (default: no certificate is accepted). */
  readonly clientCertificates?: ClientCertificateOptions | undefined;
};

export type AuthorizationServer = {
  /** Serves the OAuth endpoints and the HTML pages; passes every other request to the next handler. */
  readonly router: express.Router;
  readonly verifyAccessToken: VerifyAccessToken;
  /** Like `verifyAccessToken`, but for tokens issued for the MCP endpoint, which has its own audience. */
  readonly verifyMcpToken: VerifyAccessToken;
  /** Paths that accept form submissions. */
  readonly formPaths: readonly string[];
  /** Branding, messages and asset paths used to render every page. */
  readonly settings: PageSettings;
  /** Makes this process reload the signing keys immediately. Other processes notice a change within seconds. */
  readonly reloadSigningKeys: () => void;
  readonly onEmailAddressChange: OnEmailAddressChange;
  readonly emailApprovalRequest: ReturnType<typeof createApprovalRequestMailer>;
};

const listNothing = async (): Promise<readonly string[]> => [];

/** Returns the functions that list the currencies and categories for the limits on the consent page. */
const listsForOrderLimits = ({
  listOrderCurrencies = listNothing,
  listProductCategories = listNothing,
}: CreateAuthorizationServerOptions): Pick<PageContext, 'listOrderCurrencies' | 'listProductCategories'> => ({
  listOrderCurrencies,
  listProductCategories,
});

const createRelyingParty = ({ keys, issuer, development = false }: CreateAuthorizationServerOptions): RelyingParty =>
  new RelyingParty({ network: createPublicAddressesOnlyNetworkPolicy(development), key: keys.identityProviders, issuer });

export async function createAuthorizationServer(parts: CreateAuthorizationServerOptions): Promise<AuthorizationServer> {
  const { em } = parts.db;
  const { issuer, keys, log, canMail = true, limits = createDatabaseAttemptLimiter(em) } = parts;
  const { refreshGraceSeconds = defaultRefreshGraceSeconds, languages = bundledLanguages, development = false } = parts;
  const deriveKey = (name: string): Buffer => createHmac('sha256', keys.cookies).update(name).digest();
  const providerKeys = deriveOidcProviderKeys(deriveKey);
  const dpopNonces = new DpopNonces(deriveKey('DPoP nonces of the API'));
  const signingKeys = await createCacheWithLoadedOrNewSigningKeys(em, Buffer.from(keys.signingKeys), parts.signingKeys);
  await ensureBuiltInApplications(em, issuer);

  const verification = { issuer, keys: signingKeys.findVerificationKey, referenceKey: providerKeys.referenceKey };
  const settings = createSettingsSharedByAllPages(em, new LastReadBranding(), issuer, languages);
  const store = (parts.store ?? createPostgresAdapterFactory)(em);
  const pages = createOidcPageHandlers(settings, issuer, em);
  const documentNetwork = parts.documentNetwork ?? createPublicAddressesOnlyNetworkPolicy(false);
  const clientKeys = new ClientKeyCache(documentNetwork);
  const relyingParty = createRelyingParty(parts);
  const { onTokenOperation, openRegistration = false } = parts;
  const checkProviderAccountAfterRefresh = createProviderAccountCheckAfterRefresh({ em, relyingParty, key: keys.identityProviders, log });
  const shared = { em, issuer, log, limits, store, pages, settings, verification, documentNetwork, clientKeys };
  const middlewareOptions = { ...shared, checkProviderAccountAfterRefresh, onTokenOperation, openRegistration };
  const providerOptions = { em, development, issuer, store, ...providerKeys, refreshGraceSeconds, pages, uiLocales: languages.tags };
  const reloadableProvider = await ReloadableOidcProvider.start(signingKeys, (current) => {
    const provider = createOidcProvider({ ...providerOptions, clientCertificates: parts.clientCertificates, keys: current });
    acceptJwtsAtUserinfo(provider, verification, apiAudienceFromIssuer(issuer));
    trustProxyAndAddListeners(provider, log);
    for (const middleware of createOidcProviderMiddleware(middlewareOptions)) provider.use(middleware);
    return provider;
  });

  const context: PageContext = {
    em,
    get provider() {
      return reloadableProvider.provider;
    },
    settings,
    forms: new CsrfTokenService(deriveKey('forms'), cookieNamesForIssuer(issuer).form),
    limits,
    knownBrowsers: new KnownBrowserCookie(deriveKey('known browsers'), cookieNamesForIssuer(issuer).browser),
    canMail,
    keys,
    log,
    relyingParty,
    challenges: new StatelessPasskeyChallenges(deriveKey('passkey challenges')),
    ...listsForOrderLimits(parts),
    orders: parts.orders ?? emptyCustomerOrdersReader,
    newEvents: parts.newEvents ?? new EventLongPoller(em),
    onTokenOperation: onTokenOperation ?? (() => undefined),
  };
  return {
    ...routes(context, reloadableProvider.handleRequest, log),
    verifyAccessToken: createAccessTokenVerifier(em, verification, dpopNonces, apiAudienceFromIssuer(issuer)),
    verifyMcpToken: createAccessTokenVerifier(em, verification, dpopNonces, mcpAudienceFromIssuer(issuer)),
    settings,
    reloadSigningKeys: () => signingKeys.invalidate(),
    onEmailAddressChange: deleteLinksAndMailOldAndNewAddress(context),
    emailApprovalRequest: createApprovalRequestMailer(context),
  };
}

function trustProxyAndAddListeners(provider: Provider, log: CreateAuthorizationServerOptions['log']): void {
  provider.proxy = true; // requireIssuerHost sets X-Forwarded-Proto, which the provider must trust
  provider.silent = true; // createServerErrorRecorder logs errors
  provider.on('grant.revoked', setRevokedGrantIdOfRequest);
  provider.on('server_error', createServerErrorRecorder(log));
  recordClientAuthenticationFailureReasons(provider);
}

async function ensureBuiltInApplications(em: EntityManager, issuer: string): Promise<void> {
  await ensureCommandLineClient(em);
  await ensureApiReferencePageClient(em, issuer);
  await ensureConsoleClient(em, issuer);
}

function routes(
  context: PageContext,
  handleProviderRequest: ReloadableOidcProvider['handleRequest'],
  log: CreateAuthorizationServerOptions['log'],
): Pick<AuthorizationServer, 'router' | 'formPaths'> {
  const { issuer } = context.provider;
  const requireHost = requireIssuerHost(issuer, sendWrongHostErrorPage(context));
  const pages = createPageRouter(context, requireHost);
  const router = express
    .Router({ caseSensitive: true, strict: true })
    .use(createOidcCookieRenamingMiddleware(cookieNamesForIssuer(issuer), issuer.startsWith('https:')))
    .all(oauthEndpointPaths.registration, mcpCors)
    .post([oauthEndpointPaths.authorization, oauthEndpointPaths.end_session], requireHost, formPostToGetRedirectMiddlewares)
    // These routes are registered before the pages: they receive most requests, and matching the page paths first would slow these requests
    // down.
    .all(
      oidcProviderRoutePatterns,
      requireHost,
      rejectCrossSiteOidcProviderForms(issuer, sendCrossSiteErrorPage(context)),
      handleProviderRequest,
    )
    .get(stylesheetPathPattern, serveStylesheet)
    .get(logoPathPattern, serveLogo(context.em, readShopLogo, readIdentityProviderLogoByHash))
    .get(pageEnhancementScript.path, servePageScript)
    .use(createIdentityProviderPostRouter(context, requireHost), pages.router)
    .use(createPageErrorHandler(context, log));
  return { router, formPaths: pages.formPaths };
}
