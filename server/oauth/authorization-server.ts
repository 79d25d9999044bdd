import { createHmac, createSecretKey } from 'node:crypto';
import express from 'express';
import type { Middleware } from 'koa';
import type { AdapterFactory } from 'oidc-provider';
import { keepCommandLineApplication } from '../applications/command-line-client.ts';
import { keepReferencePageApplication } from '../applications/reference-page-client.ts';
import type { Database, Em } from '../database/entity-manager/entity-manager.ts';
import { mcpCors } from '../http/middleware/cors.ts';
import type { VerifyAccessToken } from '../http/request/principal.ts';
import type { OnEmailAddressChange } from '../http/routing/handler-dependencies.ts';
import type { SecretKeys } from '../crypto/derived-keys.ts';
import { announceEmailChange } from './pages/handlers/notify-email-change.ts';
import { apiAudience, enginePaths, endpoints, mcpAudience, pathOf } from './protocol/endpoints.ts';
import { attemptLimits, type AttemptLimits } from './brute-force/attempt-limits.ts';
import { internet, type Network } from '../outgoing-http/protected-client.ts';
import { noteBrowsers } from './sessions/session-list.ts';
import { recordConnectionUse } from './grants/connected-apps.ts';
import { cookieNames } from './protocol/cookie-names.ts';
import { devicePolling } from './device-flow/device-poll-interval.ts';
import { devicePageRequests } from './device-flow/device-page-requests.ts';
import { createEngine } from './provider/provider-configuration.ts';
import { FormTokens } from './pages/routing/form-tokens.ts';
import { acceptIssuedTokens, acceptTokensAtUserinfo } from './tokens/access-token-records.ts';
import { KnownBrowsers } from './brute-force/known-browsers.ts';
import { limitClientSecrets } from './clients/client-secret-throttle.ts';
import { limitDeviceCodes } from './device-flow/device-code-throttle.ts';
import { openRegistration } from './clients/open-registration.ts';
import { pinOrigin } from './provider/require-issuer-host.ts';
import type { PageContext } from './pages/routing/page-context.ts';
import { failureHandler, otherSite, wrongHost } from './pages/routing/page-error-handler.ts';
import { pageRoutes } from './pages/page-routes.ts';
import { defaultShop, type Setting, type Shop } from './pages/views/page-layout.ts';
import { pageScript } from './pages/assets/page-script.ts';
import { protocolPages, type ProtocolPages } from './pages/views/provider-pages.ts';
import { stylesheet } from './pages/assets/stylesheet.ts';
import { english } from './pages/messages/english-messages.ts';
import { Challenges } from './second-factors/passkeys.ts';
import { defaultRefreshGraceSeconds } from './refresh/refresh-grace.ts';
import { bodyFirst } from './protocol/buffered-request-body.ts';
import { rejectOtherSitesAtEngine } from './pages/routing/reject-cross-site-forms.ts';
import { resolveClientIdUrl } from './clients/resolve-client-id-url.ts';
import { RunningEngine } from './provider/reloadable-provider.ts';
import { openSigningKeys, type SigningKeysOptions } from './signing-keys/signing-key-set.ts';
import { signOutWithoutSession } from './provider/sign-out-without-session.ts';
import { tokenStore } from './provider/postgres-adapter.ts';
import { type OnTokenOperation, tellTokenOperations } from './provider/token-endpoint-audit.ts';
import { keepRevocation, tokenTransaction } from './provider/request-transaction.ts';
import { translateCookies } from './provider/translate-cookies.ts';
import { accessTokenVerifier } from './tokens/verify-access-token.ts';
import { noteFailure, wireCorrections } from './provider/rfc-conformance.ts';

export type AuthorizationServerParts = {
  readonly db: Database;
  readonly issuer: string;
  readonly keys: Pick<SecretKeys, 'cookies' | 'signingKeys' | 'mail' | 'secondFactor'>;
  readonly log: { error(details: object, message: string): void };
  readonly shop?: Shop;
  /** Creates the storage adapters for codes and tokens (default: PostgreSQL). Tests replace it to inject faults. */
  readonly store?: (em: Em) => AdapterFactory;
  /** Rotation schedule and reload interval of the signing keys. Tests shorten both. */
  readonly signingKeys?: SigningKeysOptions;
  /** Limits for password, code and secret attempts (default: counters in the database). */
  readonly limits?: AttemptLimits;
  /** False if no mail transport is configured. */
  readonly canMail?: boolean;
  /** Whether clients can register without an initial access token (RFC 7591). */
  readonly openRegistration?: boolean;
  /** Network for fetching client ID metadata documents (default: public addresses only). Tests replace it. */
  readonly documentNetwork?: Network;
  /** Called for every token that is issued, denied or revoked. */
  readonly onTokenOperation?: OnTokenOperation | undefined;
  /** Time during which a repeated refresh request returns the first response, in seconds; 0 disables the replay. */
  readonly refreshGraceSeconds?: number;
};

export type AuthorizationServer = {
  /** Serves the OAuth endpoints and the HTML pages; passes every other request to the next handler. */
  readonly router: express.Router;
  readonly verifyAccessToken: VerifyAccessToken;
  /** Like `verifyAccessToken`, for tokens issued for the MCP endpoint, which has its own audience. */
  readonly verifyMcpToken: VerifyAccessToken;
  /** Paths that accept form submissions. */
  readonly formPaths: readonly string[];
  /** Branding, messages and asset paths that every page is rendered with. */
  readonly setting: Setting;
  /** Makes this process reload the signing keys immediately; otherwise it notices a change within seconds, as other processes do. */
  readonly readSigningKeysAgain: () => void;
  readonly onEmailAddressChange: OnEmailAddressChange;
};

export async function authorizationServer(parts: AuthorizationServerParts): Promise<AuthorizationServer> {
  const { em } = parts.db;
  const { issuer, keys, log, shop = defaultShop, canMail = true, limits = attemptLimits(em) } = parts;
  const { refreshGraceSeconds = defaultRefreshGraceSeconds } = parts;
  const deriveKey = (name: string): Buffer => createHmac('sha256', keys.cookies).update(name).digest();
  const providerKeys = providerKeysFrom(deriveKey);
  const signingKeys = await openSigningKeys(em, Buffer.from(keys.signingKeys), parts.signingKeys);
  await ensureBuiltInApplications(em, issuer);

  const verification = { issuer, keys: signingKeys.verify, referenceKey: providerKeys.referenceKey };
  const css = stylesheet(shop.accent);
  const setting: Setting = { shop, words: english, stylesheetPath: css.path, scriptPath: pageScript.path, base: pathOf(issuer) };
  const store = (parts.store ?? tokenStore)(em);
  const pages = protocolPages(setting, issuer);
  const reloadableProvider = await RunningEngine.start(signingKeys, (current) => {
    const provider = createEngine({ em, issuer, store, keys: current, ...providerKeys, refreshGraceSeconds, pages });
    provider.proxy = true; // requireIssuerHost sets X-Forwarded-Proto, which the provider must trust
    provider.silent = true; // recordServerError logs errors
    acceptTokensAtUserinfo(provider, verification, apiAudience(issuer));
    provider.on('grant.revoked', keepRevocation(em));
    provider.on('server_error', noteFailure(log));
    for (const middleware of providerMiddleware(parts, { limits, store, pages, verification })) provider.use(middleware);
    return provider;
  });

  const context: PageContext = {
    em,
    get provider() {
      return reloadableProvider.provider;
    },
    setting,
    forms: new FormTokens(deriveKey('forms'), cookieNames(issuer).form),
    limits,
    knownBrowsers: new KnownBrowsers(deriveKey('known browsers'), cookieNames(issuer).browser),
    canMail,
    keys,
    challenges: new Challenges(deriveKey('passkey challenges')),
    onTokenOperation: parts.onTokenOperation ?? (() => undefined),
  };
  return {
    ...routes(context, reloadableProvider.handle, css, log),
    verifyAccessToken: accessTokenVerifier(em, verification, apiAudience(issuer)),
    verifyMcpToken: accessTokenVerifier(em, verification, mcpAudience(issuer)),
    setting,
    readSigningKeysAgain: () => signingKeys.readAgain(),
    onEmailAddressChange: announceEmailChange(context),
  };
}

type MiddlewareOptions = {
  readonly limits: AttemptLimits;
  readonly store: AdapterFactory;
  readonly pages: ProtocolPages;
  readonly verification: Parameters<typeof acceptIssuedTokens>[0];
};

/** Returns the middleware around the provider's own request handling, outermost first. */
function providerMiddleware(parts: AuthorizationServerParts, { limits, store, pages, verification }: MiddlewareOptions): Middleware[] {
  const { issuer, log, onTokenOperation } = parts;
  const { em } = parts.db;
  return [
    ...(onTokenOperation ? [tellTokenOperations(onTokenOperation)] : []),
    wireCorrections(issuer, log),
    signOutWithoutSession(pages),
    bodyFirst,
    ...selfRegistrationMiddleware(parts, limits, store),
    limitClientSecrets(em, limits),
    limitDeviceCodes(limits, pages),
    devicePolling(em),
    devicePageRequests(pages.sessionMissing),
    acceptIssuedTokens(verification),
    tokenTransaction(em),
    recordConnectionUse(em),
    noteBrowsers(em),
  ];
}

async function ensureBuiltInApplications(em: Em, issuer: string): Promise<void> {
  await keepCommandLineApplication(em);
  await keepReferencePageApplication(em, issuer);
}

/** Returns the middleware that registers clients without an administrator. */
const selfRegistrationMiddleware = (
  { db, documentNetwork = internet(false), openRegistration: open = false }: AuthorizationServerParts,
  limits: AttemptLimits,
  store: AdapterFactory,
): Middleware[] => [
  resolveClientIdUrl({ em: db.em, limits, network: documentNetwork }),
  ...(open ? [openRegistration(store, limits)] : []),
];
const providerKeysFrom = (deriveKey: (name: string) => Buffer) => ({
  referenceKey: createSecretKey(deriveKey('token references')),
  refreshResponseKey: createSecretKey(deriveKey('refresh responses')),
  cookieKey: deriveKey('cookies').toString('base64url'),
});

function routes(
  context: PageContext,
  handleProviderRequest: RunningEngine['handle'],
  css: ReturnType<typeof stylesheet>,
  log: AuthorizationServerParts['log'],
): Pick<AuthorizationServer, 'router' | 'formPaths'> {
  const { issuer } = context.provider;
  const requireHost = pinOrigin(issuer, wrongHost(context));
  const pages = pageRoutes(context, requireHost);
  const router = express
    .Router({ caseSensitive: true, strict: true })
    .use(translateCookies(cookieNames(issuer), issuer.startsWith('https:')))
    .all(endpoints.registration, mcpCors)
    // before the pages: most requests are for these endpoints, and matching the page paths first would slow them down
    .all(enginePaths, requireHost, rejectOtherSitesAtEngine(issuer, otherSite(context)), handleProviderRequest)
    .get(css.path, serveImmutable('css', css.text))
    .get(pageScript.path, serveImmutable('js', pageScript.text))
    .use(pages.router)
    .use(failureHandler(context, log));
  return { router, formPaths: pages.formPaths };
}

/** Serves an asset that caches can store indefinitely, because its path contains a hash of the content. */
const serveImmutable =
  (type: string, text: string): express.RequestHandler =>
  (_req, res) => {
    res.set({ 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' }).type(type).send(text);
  };
