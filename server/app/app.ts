import express, { type Express, type RequestHandler, type Router } from 'express';
import { apiVersions, contract, contractV2, type Order } from '@mandate/contract';
import { LastUse } from '../api-keys/api-key-use-buffer.ts';
import { orApiKey } from '../api-keys/verify-api-key.ts';
import { listsFrom, type ReadList } from '../database/replica/read-routing.ts';
import type { Database } from '../database/entity-manager/entity-manager.ts';
import { withOwnEm } from '../database/entity-manager/request-entity-manager.ts';
import { openApiDocuments } from '../docs/openapi-documents.ts';
import { referencePage } from '../docs/reference-page.ts';
import { NewEvents } from '../events/long-poll.ts';
import { answerHeaders } from '../http/middleware/default-headers.ts';
import { authenticate } from '../http/middleware/authenticate.ts';
import { authorize } from '../http/middleware/authorize.ts';
import { cors } from '../http/middleware/cors.ts';
import { currentVersion } from '../http/middleware/api-version.ts';
import { announceDeprecation } from '../http/middleware/deprecation-headers.ts';
import { errorHandler } from '../http/middleware/error-handler.ts';
import { jsonBody } from '../http/middleware/json-body.ts';
import { limitRequests } from '../http/middleware/rate-limit.ts';
import { negotiate } from '../http/middleware/content-negotiation.ts';
import { Pages } from '../http/response/pagination.ts';
import { locationsBelow, wellKnownBefore } from '../http/request/base-path.ts';
import { sendJsonDirectly } from '../http/response/fast-json.ts';
import { requestScope } from '../http/request/request-context.ts';
import { routesByResource } from '../http/routing/router-by-resource.ts';
import { serveContract } from '../http/routing/mount-contract.ts';
import { refuseUnknownPath } from '../http/routing/unknown-routes.ts';
import type { Log } from '../logging/logger.ts';
import { type AuthorizationServer, type AuthorizationServerParts, authorizationServer } from '../oauth/authorization-server.ts';
import { isOriginOfApplication } from '../oauth/clients/client-adapter.ts';
import { proofAlgorithms } from '../oauth/tokens/dpop-proof.ts';
import { endAccess } from '../oauth/grants/revoke-all-access.ts';
import { apiAudience, mcpAudience, pathOf } from '../oauth/protocol/endpoints.ts';
import { mcpEndpoint } from '../mcp/mcp-endpoint.ts';
import { assistantScopes } from '../oauth/protocol/oauth-scopes.ts';
import { protectedResource, resourceMetadataUrl } from '../oauth/provider/protected-resource-metadata.ts';
import { orderRoutesV2 } from '../order-lifecycle/order-routes-v2.ts';
import { manualProvider } from '../payments/providers/manual-provider.ts';
import { type PaymentProviders, paymentProviders } from '../payments/providers/payment-provider.ts';
import { problemPages } from '../problems/problem-pages.ts';
import { counters } from '../rate-limits/counters.ts';
import { requestLimits, usualRateLimits, type RateLimits } from '../rate-limits/rate-limits.ts';
import type { SharedCounters } from '../rate-limits/redis-counters.ts';
import { resources } from './api-routes.ts';
import type { SecretKeys } from '../crypto/derived-keys.ts';
import { securityTxt } from '../site/security-txt.ts';
import { rootFiles, sitePages, unknownPage } from '../site/site-pages.ts';
import { MonthlyUse } from '../usage/usage-buffer.ts';

export type AppParts = {
  readonly db: Database;
  /** Runs list queries, perhaps on a read replica; by default, they run on `db`. */
  readonly readList?: ReadList | undefined;
  /** Public URL of the server, with an optional path; also the OAuth issuer. */
  readonly issuer: string;
  readonly keys: SecretKeys;
  readonly log: Log;
  /** Whether prices include tax (the default) or tax is added to them. */
  readonly taxMode?: Order['tax_mode'];
  /** Payment providers; by default, payments are recorded manually. */
  readonly providers?: PaymentProviders;
  /** Called when there is new work for the background jobs. */
  readonly wake?: () => void;
  /** Trusted reverse proxies (the `trust proxy` setting of Express). */
  readonly trustProxy?: number | string | false;
  /** Buffers the last-use times of API keys, which a background job writes to the database. */
  readonly lastUse?: LastUse;
  /** Request limits per caller. */
  readonly rateLimits?: RateLimits;
  /** Redis counters, shared by all server processes; without them, each process counts on its own. */
  readonly sharedCounters?: SharedCounters | undefined;
  /** Buffers the monthly request counts, which a background job writes to the database. */
  readonly monthlyUse?: MonthlyUse;
  /** Whether preview versions of the API are served as well. */
  readonly previewVersions?: boolean;
  readonly now?: () => Date;
  /** Long polls that wait for the next event. */
  readonly newEvents?: NewEvents;
  /** Whether webhooks may be sent to this machine over plain HTTP and the start page shows the first commands. */
  readonly development?: boolean;
  /** Contact for vulnerability reports, published in security.txt. */
  readonly securityContact?: string | undefined;
} & Pick<
  AuthorizationServerParts,
  'store' | 'signingKeys' | 'limits' | 'canMail' | 'openRegistration' | 'documentNetwork' | 'onTokenOperation' | 'refreshGraceSeconds'
>;

/** Creates the Express application: the API, its documentation and the authorization server. */
export async function createApp(parts: AppParts): Promise<Express> {
  const { db, issuer, log } = parts;
  const authorization = await authorizationServer(parts);
  const app = express();
  app.disable('x-powered-by');
  // Express would add weak ETags to every response, including errors.
  app.set('etag', false);
  // Express would also drop the body of any response to `If-None-Match: *`, even without an ETag; http/response/etag.ts handles this.
  Object.defineProperty(app.request, 'fresh', { value: false });
  sendJsonDirectly(app);
  app.set('trust proxy', parts.trustProxy ?? false);
  app.use(requestScope(log));
  app.use((_req, _res, next) => withOwnEm(db.em, next));
  const base = pathOf(issuer);
  if (base !== '') app.use(wellKnownBefore(base)).use(base, locationsBelow(base));
  const { development = false, securityContact: contact, now = () => new Date() } = parts;
  app.use('/.well-known', protectedResource(issuer));
  app.use(securityTxt({ issuer, contact, development, now }));
  if (base !== '') app.use(rootFiles());
  app.use(base === '' ? '/' : base, siteRouter(parts, authorization));
  app.use(unknownPage(authorization.setting, issuer), refuseUnknownPath, errorHandler(issuer, log));
  return app;
}

function siteRouter(parts: AppParts, authorization: AuthorizationServer): Router {
  const { issuer, log, development = false } = parts;
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use('/api', answerHeaders, cors, currentVersion);
  router.use(apiRouter(parts, authorization));
  router.use('/api', refuseUnknownPath, errorHandler(issuer, log));
  router.use(openApiDocuments(issuer, parts.previewVersions ?? false));
  router.use(referencePage(issuer));
  router.use(sitePages(authorization.setting, { issuer, development }));
  router.use(problemPages(authorization.setting, issuer));
  router.use(authorization.router);
  return router;
}

function apiRouter(
  { db, issuer, keys, taxMode = 'inclusive', lastUse = new LastUse(), monthlyUse = new MonthlyUse(), ...parts }: AppParts,
  { verifyAccessToken, verifyMcpToken, readSigningKeysAgain: readAgain, onEmailAddressChange }: AuthorizationServer,
): Router {
  const { providers = paymentProviders(manualProvider), wake = () => undefined, newEvents = new NewEvents(db.em) } = parts;
  const { now = () => new Date(), onTokenOperation = () => undefined } = parts;
  const servedVersions = apiVersions.filter(({ preview }) => !preview || parts.previewVersions);
  const signingKeys = { encryptionKey: keys.signingKeys, readAgain };
  const webhooks = { webhookKey: keys.webhooks, development: parts.development ?? false };
  const deps = {
    em: db.em,
    readList: parts.readList ?? listsFrom(db.em),
    pages: new Pages(keys.cursors),
    taxMode,
    endAccess,
    onEmailAddressChange,
    providers,
    wake,
    signingKeys,
    newEvents,
    apiVersions: servedVersions,
    now,
    onTokenOperation,
    ...webhooks,
  };
  const router = routesByResource();
  const limits = parts.rateLimits ?? usualRateLimits;
  const limit = limitRequests(
    requestLimits({ em: db.em, limits, counters: counters(limits.windowSeconds ?? 60, parts.sharedCounters), use: monthlyUse }),
  );
  // Authentication and authorization come first: unauthorized clients learn nothing else and cannot make the server parse a body.
  const middleware = [
    announceDeprecation(servedVersions, now),
    authenticate(orApiKey(db.em, lastUse, verifyAccessToken), challenge(apiAudience(issuer)), limit),
    authorize,
    negotiate,
    jsonBody,
  ];
  const { versions, ...shared } = resources(deps);
  serveContract(router, contract, { versions, ...shared }, middleware);
  if (servedVersions.some(({ name }) => name === 'v2'))
    serveContract(router, contractV2, { ...shared, orders: orderRoutesV2(deps) }, middleware);
  const authenticateTools = authenticate(
    orApiKey(db.em, lastUse, verifyMcpToken),
    { ...challenge(mcpAudience(issuer)), scopes: assistantScopes },
    limit,
    () => false,
  );
  const tools = mcpRouter({ db, issuer, log: parts.log }, authenticateTools, router);
  return express.Router({ caseSensitive: true, strict: true }).use(router, tools);
}

/** Creates the MCP endpoint, whose tools call the API routes in this process. */
function mcpRouter(
  { db: { em }, issuer, log }: Pick<AppParts, 'db' | 'issuer' | 'log'>,
  authenticateTools: RequestHandler,
  routes: Router,
) {
  const inProcessApi = express.Router().use(answerHeaders, routes, refuseUnknownPath, errorHandler(issuer, log));
  const access = { authenticate: authenticateTools, isOriginOfApplication: isOriginOfApplication(em) };
  return mcpEndpoint({ em, issuer, log, ...access, api: inProcessApi });
}

const challenge = (resource: string) => ({ resourceMetadata: resourceMetadataUrl(resource).href, proofAlgorithms });
