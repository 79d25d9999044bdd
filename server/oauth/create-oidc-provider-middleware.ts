import type { Middleware } from 'koa';
import type { AdapterFactory } from 'oidc-provider';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { NetworkPolicy } from '../outgoing-http/ssrf-protected-connection.ts';
import type { AttemptLimiter } from './brute-force/attempt-limiter.ts';
import type { ClientKeyCache } from './clients/client-key-cache.ts';
import { createClientMetadataFetchingMiddleware } from './clients/client-metadata-fetching-middleware.ts';
import { prefetchClientKeysForRequestObject } from './clients/prefetch-client-keys-for-request-object.ts';
import { limitAndAuthorizeAnonymousRegistrations } from './clients/limit-and-authorize-anonymous-registrations.ts';
import { prefetchClientAndLimitSecretAttempts } from './clients/prefetch-client-and-limit-secret-attempts.ts';
import { sendAndEnforceDevicePollInterval } from './device-flow/send-and-enforce-device-poll-interval.ts';
import { limitUserCodeAttempts } from './device-flow/limit-user-code-attempts.ts';
import { hideUserCodeFromProviderAndRequireSession } from './device-flow/hide-user-code-from-provider-and-require-session.ts';
import { recordConnectedAppUseAndGrantCreated } from './grants/store-list-and-revoke-connected-apps.ts';
import { runRequestInTransaction } from './grants/run-request-in-transaction.ts';
import { createOidcPagesBrandingReloadMiddleware } from './pages/routing/branding-reload-middleware.ts';
import type { OidcPageHandlers } from './pages/views/oidc-provider/oidc-provider-pages.ts';
import type { PageSettings } from './pages/views/page-layout-and-form-fields.ts';
import { bufferBodyAndRejectDuplicateKeys } from './protocol/buffered-request-body.ts';
import type { CheckProviderAccountAfterRefresh } from './refresh/create-provider-account-check-after-refresh.ts';
import { createRefreshRequestMiddleware, isRefreshRequest } from './refresh/refresh-token-grant.ts';
import { createSessionUseRecordingMiddleware } from './sessions/record-list-and-revoke-browser-sessions.ts';
import { acceptJwtsForRevocationAndIntrospection } from './tokens/customize-jwt-access-tokens.ts';
import { fixOidcProviderResponses } from './provider/fix-oidc-provider-responses.ts';
import { createTokenOperationReportingMiddleware, type OnTokenOperation } from './provider/report-token-operations.ts';
import { completeSignOutWithoutSession } from './provider/sign-out-without-session.ts';

export type OidcProviderMiddlewareOptions = {
  readonly em: EntityManager;
  readonly issuer: string;
  readonly log: { error(details: object, message: string): void };
  readonly limits: AttemptLimiter;
  readonly store: AdapterFactory;
  readonly pages: OidcPageHandlers;
  readonly settings: PageSettings;
  readonly verification: Parameters<typeof acceptJwtsForRevocationAndIntrospection>[0];
  /** Network policy for fetching client ID metadata documents. */
  readonly documentNetwork: NetworkPolicy;
  readonly clientKeys: ClientKeyCache;
  readonly checkProviderAccountAfterRefresh: CheckProviderAccountAfterRefresh;
  readonly onTokenOperation: OnTokenOperation | undefined;
  /** Whether clients can register without an initial access token (RFC 7591). */
  readonly openRegistration: boolean;
};

/** Returns the middleware functions that wrap oidc-provider's request handling, ordered from the outermost to the innermost. */
export function createOidcProviderMiddleware(options: OidcProviderMiddlewareOptions): Middleware[] {
  const { em, issuer, log, onTokenOperation, limits, pages, settings, verification, clientKeys, checkProviderAccountAfterRefresh } =
    options;
  const refreshTokens = createRefreshRequestMiddleware({ em, limits, clientKeys, checkProviderAccountAfterRefresh });
  const handleOtherRequest = chainMiddleware([
    createOidcPagesBrandingReloadMiddleware(settings),
    completeSignOutWithoutSession(pages),
    ...selfRegistrationMiddleware(options),
    prefetchClientAndLimitSecretAttempts({ em, limits, clientKeys }),
    prefetchClientKeysForRequestObject({ em, clientKeys }),
    limitUserCodeAttempts(limits, pages),
    sendAndEnforceDevicePollInterval(em),
    hideUserCodeFromProviderAndRequireSession(pages.sessionMissing),
    acceptJwtsForRevocationAndIntrospection(verification),
    runRequestInTransaction(em),
    recordConnectedAppUseAndGrantCreated(em),
    createSessionUseRecordingMiddleware(em),
  ]);
  return [
    ...(onTokenOperation ? [createTokenOperationReportingMiddleware(onTokenOperation)] : []),
    fixOidcProviderResponses(issuer, log),
    bufferBodyAndRejectDuplicateKeys,
    async (ctx, next) => {
      await ((await isRefreshRequest(ctx)) ? refreshTokens(ctx, next) : handleOtherRequest(ctx, next));
    },
  ];
}

/** Combines several middleware functions into one; the first function is the outermost. */
const chainMiddleware =
  (middleware: readonly Middleware[]): Middleware =>
  async (ctx, next) => {
    const runOuter = (inner: () => Promise<void>, outer: Middleware) => async (): Promise<void> => {
      await outer(ctx, inner);
    };
    await middleware.reduceRight(runOuter, next)();
  };

/** Returns the middleware that lets clients register without an administrator. */
const selfRegistrationMiddleware = ({
  em,
  limits,
  store,
  documentNetwork,
  openRegistration,
}: OidcProviderMiddlewareOptions): Middleware[] => [
  createClientMetadataFetchingMiddleware({ em, limits, network: documentNetwork }),
  ...(openRegistration ? [limitAndAuthorizeAnonymousRegistrations(store, limits)] : []),
];
