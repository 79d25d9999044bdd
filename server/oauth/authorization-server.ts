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
  /** Where codes and tokens are kept; another one only to see what goes wrong with it. */
  readonly store?: (em: Em) => AdapterFactory;
  /** How often signing keys follow each other; another schedule only to see it happen. */
  readonly signingKeys?: SigningKeysOptions;
  /** How often may be guessed; without limits only to see what goes wrong. */
  readonly limits?: AttemptLimits;
  /** False where there is no way to send e-mail. */
  readonly canMail?: boolean;
  /** Whether applications can register without an initial access token (RFC 7591). */
  readonly openRegistration?: boolean;
  /** How client ID metadata documents are fetched; another network only in tests. */
  readonly documentNetwork?: Network;
  /** Told of every token that was given out, refused or given back. */
  readonly onTokenOperation?: OnTokenOperation | undefined;
  /** How long a repeated refresh returns the first response, in seconds; 0 turns it off. */
  readonly refreshGraceSeconds?: number;
};

export type AuthorizationServer = {
  /** The protocol's endpoints and the pages people see. Everything else it leaves to the next handler. */
  readonly router: express.Router;
  readonly verifyAccessToken: VerifyAccessToken;
  /** The same for the tools of the API, which have tokens of their own. */
  readonly verifyMcpToken: VerifyAccessToken;
  /** The path of every form of the pages. */
  readonly formPaths: readonly string[];
  /** What pages are made with. */
  readonly setting: Setting;
  /** After they were changed; otherwise this process learns of it within seconds, as every other does. */
  readonly readSigningKeysAgain: () => void;
  readonly onEmailAddressChange: OnEmailAddressChange;
};

export async function authorizationServer(parts: AuthorizationServerParts): Promise<AuthorizationServer> {
  const { em } = parts.db;
  const { issuer, keys, log, shop = defaultShop, canMail = true, limits = attemptLimits(em) } = parts;
  const { refreshGraceSeconds = defaultRefreshGraceSeconds } = parts;
  const purpose = (name: string): Buffer => createHmac('sha256', keys.cookies).update(name).digest();
  const engineKeys = engineKeysFrom(purpose);
  const signingKeys = await openSigningKeys(em, Buffer.from(keys.signingKeys), parts.signingKeys);
  await keepBuiltInApplications(em, issuer);

  const verification = { issuer, keys: signingKeys.verify, referenceKey: engineKeys.referenceKey };
  const css = stylesheet(shop.accent);
  const setting: Setting = { shop, words: english, stylesheetPath: css.path, scriptPath: pageScript.path, base: pathOf(issuer) };
  const store = (parts.store ?? tokenStore)(em);
  const pages = protocolPages(setting, issuer);
  const engine = await RunningEngine.start(signingKeys, (current) => {
    const provider = createEngine({ em, issuer, store, keys: current, ...engineKeys, refreshGraceSeconds, pages });
    provider.proxy = true; // so that it believes pinOrigin, which knows the scheme
    provider.silent = true; // wireCorrections logs
    acceptTokensAtUserinfo(provider, verification, apiAudience(issuer));
    provider.on('grant.revoked', keepRevocation(em));
    provider.on('server_error', noteFailure(log));
    for (const middleware of engineMiddleware(parts, { limits, store, pages, verification })) provider.use(middleware);
    return provider;
  });

  const context: PageContext = {
    em,
    get provider() {
      return engine.provider;
    },
    setting,
    forms: new FormTokens(purpose('forms'), cookieNames(issuer).form),
    limits,
    knownBrowsers: new KnownBrowsers(purpose('known browsers'), cookieNames(issuer).browser),
    canMail,
    keys,
    challenges: new Challenges(purpose('passkey challenges')),
    onTokenOperation: parts.onTokenOperation ?? (() => undefined),
  };
  return {
    ...routes(context, engine.handle, css, log),
    verifyAccessToken: accessTokenVerifier(em, verification, apiAudience(issuer)),
    verifyMcpToken: accessTokenVerifier(em, verification, mcpAudience(issuer)),
    setting,
    readSigningKeysAgain: () => signingKeys.readAgain(),
    onEmailAddressChange: announceEmailChange(context),
  };
}

type MiddlewareParts = {
  readonly limits: AttemptLimits;
  readonly store: AdapterFactory;
  readonly pages: ProtocolPages;
  readonly verification: Parameters<typeof acceptIssuedTokens>[0];
};

/** What runs around the engine's own handling of each request, from the outside in. */
function engineMiddleware(parts: AuthorizationServerParts, { limits, store, pages, verification }: MiddlewareParts): Middleware[] {
  const { issuer, log, onTokenOperation } = parts;
  const { em } = parts.db;
  return [
    ...(onTokenOperation ? [tellTokenOperations(onTokenOperation)] : []),
    wireCorrections(issuer, log),
    signOutWithoutSession(pages),
    bodyFirst,
    ...selfRegistration(parts, limits, store),
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

async function keepBuiltInApplications(em: Em, issuer: string): Promise<void> {
  await keepCommandLineApplication(em);
  await keepReferencePageApplication(em, issuer);
}

/** How applications come to be known without an administrator. */
const selfRegistration = (
  { db, documentNetwork = internet(false), openRegistration: open = false }: AuthorizationServerParts,
  limits: AttemptLimits,
  store: AdapterFactory,
): Middleware[] => [
  resolveClientIdUrl({ em: db.em, limits, network: documentNetwork }),
  ...(open ? [openRegistration(store, limits)] : []),
];
const engineKeysFrom = (purpose: (name: string) => Buffer) => ({
  referenceKey: createSecretKey(purpose('token references')),
  refreshResponseKey: createSecretKey(purpose('refresh responses')),
  cookieKey: purpose('cookies').toString('base64url'),
});

function routes(
  context: PageContext,
  engine: RunningEngine['handle'],
  css: ReturnType<typeof stylesheet>,
  log: AuthorizationServerParts['log'],
): Pick<AuthorizationServer, 'router' | 'formPaths'> {
  const { issuer } = context.provider;
  const pin = pinOrigin(issuer, wrongHost(context));
  const pages = pageRoutes(context, pin);
  const router = express
    .Router({ caseSensitive: true, strict: true })
    .use(translateCookies(cookieNames(issuer), issuer.startsWith('https:')))
    .all(endpoints.registration, mcpCors)
    // before the pages: this is what programs ask for, and there are many pages to compare a path with
    .all(enginePaths, pin, rejectOtherSitesAtEngine(issuer, otherSite(context)), engine)
    .get(css.path, keptForever('css', css.text))
    .get(pageScript.path, keptForever('js', pageScript.text))
    .use(pages.router)
    .use(failureHandler(context, log));
  return { router, formPaths: pages.formPaths };
}

/** Its path has its hash. */
const keptForever =
  (type: string, text: string): express.RequestHandler =>
  (_req, res) => {
    res.set({ 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' }).type(type).send(text);
  };
