import express, { type Express, type Router } from 'express';
import { apiVersions, contract, contractV2, type Order } from '@mandate/contract';
import { z } from 'zod';
import { ApiKeyLastUseBuffer } from '../api-keys/api-key-last-use-buffer.ts';
import { extendTokenVerifierToApiKeys } from '../api-keys/verify-access-token-or-api-key.ts';
import { ordersReaderForAccountPages } from './orders-reader-for-account-pages.ts';
import { listCategoriesForSale } from '../products/list-product-categories.ts';
import { listDeliveryCurrencies } from '../delivery-methods/list-delivery-currencies.ts';
import { createPrimaryOnlyListQueryRunner, type RunListQuery } from '../database/replica/primary-only-list-query-runner.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import { runWithRequestEntityManager } from '../database/entity-manager/request-entity-manager.ts';
import { serveConsole } from '../console/serve-console.ts';
import { serveOpenApiDocuments } from '../docs/serve-openapi-documents.ts';
import { serveReferencePage } from '../docs/serve-reference-page.ts';
import { EventLongPoller } from '../events/event-long-poll.ts';
import { setDefaultHeaders } from '../http/middleware/default-headers.ts';
import { authenticateAndApplyRateLimit } from '../http/middleware/authenticate-and-apply-rate-limit.ts';
import { authorizeByScope } from '../http/middleware/authorize-by-scope.ts';
import { cors } from '../http/middleware/cors.ts';
import { routeUnversionedUrlToCurrentVersion } from '../http/middleware/route-unversioned-url-to-current-version.ts';
import { addDeprecationHeadersOrRejectRetired } from '../http/middleware/deprecation-headers-and-retirement.ts';
import { createApiErrorHandler } from '../http/middleware/api-error-handler.ts';
import { parseJsonBody } from '../http/middleware/parse-json-body.ts';
import { createRateLimitEnforcer } from '../http/middleware/enforce-rate-limit.ts';
import { rejectUnsupportedAcceptHeader } from '../http/middleware/reject-unsupported-accept-header.ts';
import { setCertificateSourceOrStripHeader } from '../http/request/client-certificate.ts';
import { CursorPaginator } from '../http/response/pagination.ts';
import { prefixLocationHeaderWithBasePath, rewriteWellKnownPathOfIssuer } from '../http/request/rewrite-location-and-well-known-urls.ts';
import { replaceExpressResponseJsonMethod } from '../http/response/replace-express-response-json-method.ts';
import { assignRequestIdAndLogAccess } from '../http/request/request-context-principal-and-access-log.ts';
import { createRouterWithSubrouterPerResource } from '../http/routing/router-with-subrouter-per-resource.ts';
import { mountContract } from '../http/routing/mount-contract.ts';
import { rejectUnknownPath } from '../http/routing/reject-undeclared-paths-and-methods.ts';
import type { Languages } from '../languages/languages.ts';
import type { Log } from '../logging/logger.ts';
import {
  type AuthorizationServer,
  type CreateAuthorizationServerOptions,
  createAuthorizationServer,
} from '../oauth/authorization-server.ts';
import { redirectToPageInChosenLanguage } from '../oauth/pages/views/select-and-store-page-language.ts';
import { getClientCertificateSupport } from '../oauth/clients/client-certificate-authentication.ts';
import { createRedirectOriginCheck } from '../oauth/clients/oidc-client-adapter.ts';
import { dpopAlgorithms } from '../oauth/tokens/verify-dpop-proof.ts';
import { revokeAccessOfSuspendedOrClosedUser } from '../oauth/grants/revoke-access-of-suspended-or-closed-user.ts';
import { apiAudienceFromIssuer, mcpAudienceFromIssuer, basePathFromIssuer } from '../oauth/protocol/endpoint-paths-and-audiences.ts';
import { twoFactorAcrValue } from '../oauth/protocol/acr-and-amr.ts';
import { createMcpEndpoint } from '../mcp/mcp-endpoint.ts';
import { mcpChallengeScopes } from '../oauth/protocol/oauth-scopes.ts';
import { createProtectedResourceMetadataRouter, getProtectedResourceMetadataUrl } from '../oauth/provider/protected-resource-metadata.ts';
import { orderRoutesV2 } from '../order-lifecycle/order-routes-v2.ts';
import { buildOrderLookupToCombineWithTokenCheck } from '../orders/find-order.ts';
import { manualProvider } from '../payments/providers/manual-provider.ts';
import { type PaymentProviders, indexPaymentProvidersByName } from '../payments/providers/payment-provider.ts';
import { serveProblemPages } from '../problems/problem-pages.ts';
import { createRateLimitCounters, type CreateRateLimitCounters } from '../rate-limits/memory-or-redis-counters.ts';
import { createRateLimitAndQuotaCounter, defaultRateLimits, type RateLimits } from '../rate-limits/rate-limit-and-quota-counter.ts';
import { createRouteHandlersByResource } from './create-route-handlers-by-resource.ts';
import type { DerivedKeys } from '../crypto/derived-keys-and-server-secret.ts';
import { serveSecurityTxt } from '../site/serve-security-txt.ts';
import {
  serveFaviconAndRobotsTxt,
  serveStartPageAndRootFiles,
  serveNotFoundPageIfHtmlPreferred,
} from '../site/serve-site-pages-and-root-files.ts';
import { MonthlyUsageBuffer } from '../usage/monthly-usage-buffer.ts';

export type AppOptions = {
  readonly db: Database;
  /** Runs list queries, for example on a read replica (default: on `db`). */
  readonly readList?: RunListQuery | undefined;
  /** Public URL of the server, with an optional path; also the OAuth issuer. */
  readonly issuer: string;
  readonly keys: DerivedKeys;
  readonly log: Log;
  /** Whether prices include tax (default: true). If false, tax is added to the prices. */
  readonly taxMode?: Order['tax_mode'];
  /** Payment providers; by default, payments are recorded manually. */
  readonly providers?: PaymentProviders;
  /** Called when there is new work for the background jobs. */
  readonly wake?: () => void;
  /** Trusted reverse proxies (Express's `trust proxy` setting). */
  readonly trustProxy?: number | string | false;
  /** Buffers the time at which each API key was last used, until a background job writes these times to the database. */
  readonly lastUse?: ApiKeyLastUseBuffer;
  /** Request limits per caller. */
  readonly rateLimits?: RateLimits;
  /** Creates the rate limit counters (default: counters in the memory of this process). */
  readonly createCounters?: CreateRateLimitCounters | undefined;
  /** Buffers monthly request counts until a background job writes them to the database. */
  readonly monthlyUse?: MonthlyUsageBuffer;
  /** Whether preview versions of the API are also served. */
  readonly previewVersions?: boolean;
  readonly now?: () => Date;
  /** Manages the long polls that wait for the next event. */
  readonly newEvents?: EventLongPoller;
  /** Development mode: webhooks may be sent to this machine over plain HTTP, and the start page shows the first commands. */
  readonly development?: boolean;
  /** Contact for vulnerability reports, published in security.txt. */
  readonly securityContact?: string | undefined;
  /** Whether the operator has configured a directory for backups. */
  readonly hasBackupDirectory?: boolean;
} & Pick<
  CreateAuthorizationServerOptions,
  | 'store'
  | 'signingKeys'
  | 'limits'
  | 'canMail'
  | 'languages'
  | 'openRegistration'
  | 'documentNetwork'
  | 'onTokenOperation'
  | 'refreshGraceSeconds'
  | 'clientCertificates'
>;

/** Creates the Express application: the API, its documentation and the authorization server. */
export async function createApp(options: AppOptions): Promise<Express> {
  const { db, issuer, log } = options;
  const parts = { ...options, newEvents: options.newEvents ?? new EventLongPoller(db.em) };
  const authorization = await createAuthorizationServer({
    ...parts,
    listOrderCurrencies: listDeliveryCurrencies,
    listProductCategories: listCategoriesForSale,
    orders: ordersReaderForAccountPages,
  });
  const app = express();
  app.disable('x-powered-by');
  // By default, Express adds weak ETags to every response, including error responses.
  app.set('etag', false);
  // For requests with `If-None-Match: *`, Express would drop the body of every response, even of a response without an ETag. Therefore,
  // http/response/etag-and-conditional-requests.ts handles this header.
  Object.defineProperty(app.request, 'fresh', { value: false });
  replaceExpressResponseJsonMethod(app);
  app.set('trust proxy', parts.trustProxy ?? false);
  app.use(assignRequestIdAndLogAccess(log));
  const { clientCertificates } = parts;
  if (clientCertificates) app.use(setCertificateSourceOrStripHeader(clientCertificates.source, (address) => trustsAddress(app, address)));
  app.use((_req, _res, next) => runWithRequestEntityManager(db.em, next));
  const base = basePathFromIssuer(issuer);
  if (base !== '') app.use(rewriteWellKnownPathOfIssuer(base)).use(base, prefixLocationHeaderWithBasePath(base));
  const { development = false, securityContact: contact, now = () => new Date() } = parts;
  const { languages } = authorization.settings;
  app.use('/.well-known', createProtectedResourceMetadataRouter(issuer, clientCertificates !== undefined));
  app.use(serveSecurityTxt({ issuer, contact, development, now }));
  if (base !== '') app.use(serveFaviconAndRobotsTxt());
  app.use(base === '' ? '/' : base, siteRouter(parts, authorization));
  app.use(
    serveNotFoundPageIfHtmlPreferred(authorization.settings, issuer),
    rejectUnknownPath,
    createApiErrorHandler(issuer, log, languages),
  );
  return app;
}

const trustFunction = z.custom<(address: string, hop: number) => boolean>();

/** Returns whether a connection comes from the address of a trusted proxy (Express's `trust proxy` setting). */
const trustsAddress = (app: Express, address: string): boolean => trustFunction.parse(app.get('trust proxy fn'))(address, 0);

function siteRouter(parts: AppOptions, authorization: AuthorizationServer): Router {
  const { issuer, log, development = false } = parts;
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use('/api', setDefaultHeaders, cors, routeUnversionedUrlToCurrentVersion);
  router.use(apiRouter(parts, authorization));
  router.use('/api', rejectUnknownPath, createApiErrorHandler(issuer, log, authorization.settings.languages));
  router.use(redirectToPageInChosenLanguage(authorization.settings));
  router.use(serveOpenApiDocuments(issuer, parts.previewVersions ?? false));
  router.use(serveReferencePage(authorization.settings, issuer));
  router.use(serveConsole(issuer));
  router.use(serveStartPageAndRootFiles(authorization.settings, { issuer, development }));
  router.use(serveProblemPages(authorization.settings, issuer));
  router.use(authorization.router);
  return router;
}

function apiRouter({ db, issuer, keys, taxMode = 'inclusive', ...parts }: AppOptions, authorization: AuthorizationServer): Router {
  const { verifyAccessToken, verifyMcpToken, reloadSigningKeys: readAgain, onEmailAddressChange, emailApprovalRequest } = authorization;
  const { languages } = authorization.settings;
  const { lastUse = new ApiKeyLastUseBuffer(), monthlyUse = new MonthlyUsageBuffer() } = parts;
  const { providers = indexPaymentProvidersByName(manualProvider), wake = () => undefined, newEvents = new EventLongPoller(db.em) } = parts;
  const { now = () => new Date(), onTokenOperation = () => undefined } = parts;
  const servedVersions = apiVersions.filter(({ preview }) => !preview || parts.previewVersions);
  const signingKeys = { encryptionKey: keys.signingKeys, readAgain };
  const webhooks = { webhookKey: keys.webhooks, development: parts.development ?? false };
  const deps = {
    em: db.em,
    readList: parts.readList ?? createPrimaryOnlyListQueryRunner(db.em),
    pages: new CursorPaginator(keys.cursors),
    issuer,
    taxMode,
    endAccess: revokeAccessOfSuspendedOrClosedUser,
    onEmailAddressChange,
    emailApprovalRequest,
    secondFactorAcrValue: twoFactorAcrValue,
    providers,
    wake,
    signingKeys,
    newEvents,
    apiVersions: servedVersions,
    now,
    onTokenOperation,
    identityProviderKey: keys.identityProviders,
    hasBackupDirectory: parts.hasBackupDirectory ?? false,
    clientCertificates: getClientCertificateSupport(parts.clientCertificates),
    ...webhooks,
  };
  const router = createRouterWithSubrouterPerResource();
  const limits = parts.rateLimits ?? defaultRateLimits;
  const limit = createRateLimitEnforcer(
    createRateLimitAndQuotaCounter({
      em: db.em,
      limits,
      counters: (parts.createCounters ?? createRateLimitCounters)(limits.windowSeconds ?? 60),
      use: monthlyUse,
    }),
  );
  const verifyTokenOrKey = extendTokenVerifierToApiKeys(db.em, lastUse, verifyAccessToken);
  const apiChallenge = challenge(apiAudienceFromIssuer(issuer));
  // Authentication and authorization come before parsing, so that the server never parses the body of an unauthorized request.
  const middleware = [
    addDeprecationHeadersOrRejectRetired(servedVersions, now),
    authenticateAndApplyRateLimit(verifyTokenOrKey, apiChallenge, limit, { expectLookup: buildOrderLookupToCombineWithTokenCheck }),
    authorizeByScope,
    rejectUnsupportedAcceptHeader,
    parseJsonBody,
  ];
  const { versions, ...shared } = createRouteHandlersByResource(deps);
  mountContract(router, contract, { versions, ...shared }, middleware);
  if (servedVersions.some(({ name }) => name === 'v2'))
    mountContract(router, contractV2, { ...shared, orders: orderRoutesV2(deps) }, middleware);
  const verify = extendTokenVerifierToApiKeys(db.em, lastUse, verifyMcpToken);
  const tools = mcpRouter({ db, issuer, log: parts.log, languages, verify, limit }, router);
  return express.Router({ caseSensitive: true, strict: true }).use(router, tools);
}

type McpOptions = Pick<AppOptions, 'db' | 'issuer' | 'log'> & {
  readonly languages: Languages;
  readonly verify: ReturnType<typeof extendTokenVerifierToApiKeys>;
  readonly limit: ReturnType<typeof createRateLimitEnforcer>;
};

/** Creates the MCP endpoint, whose tools call the API routes in this process. */
function mcpRouter({ db: { em }, issuer, log, languages, verify, limit }: McpOptions, routes: Router) {
  const mcpChallenge = { ...challenge(mcpAudienceFromIssuer(issuer)), scopes: mcpChallengeScopes };
  const access = {
    authenticate: authenticateAndApplyRateLimit(verify, mcpChallenge, limit, { isPublic: () => false }),
    challenge: mcpChallenge,
  };
  const inProcessApi = express.Router().use(setDefaultHeaders, routes, rejectUnknownPath, createApiErrorHandler(issuer, log, languages));
  return createMcpEndpoint({ em, issuer, log, ...access, isOriginOfApplication: createRedirectOriginCheck(em), api: inProcessApi });
}

const challenge = (resource: string) => ({
  resourceMetadata: getProtectedResourceMetadataUrl(resource).href,
  proofAlgorithms: dpopAlgorithms,
});
