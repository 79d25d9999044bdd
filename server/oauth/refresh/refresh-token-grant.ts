/**
 * Refreshes a token (RFC 6749 section 6). The functions are in the order in which they run:
 *
 * 1. `createRefreshRequestMiddleware` rejects clients that have sent too many wrong secrets, and starts the transaction.
 * 2. oidc-provider authenticates the client and calls `exchangeOrReplayRefreshToken`.
 * 3. `lockRefreshToken` serializes concurrent requests with the same token.
 * 4. `findStoredResponse` returns the first response if this request repeats an earlier one within the grace period.
 * 5. oidc-provider checks the token, its grant and the user. If the token has already been used, the grant is revoked, unless the request
 *    repeats an earlier request.
 * 6. `shouldRotateOrThrowOnReplay` returns the stored response, or decides whether to rotate the token.
 * 7. oidc-provider issues the tokens (`addOpenIdScopesAndStoreTokenRecord`), and `storeResponse` stores the response.
 * 8. `runRequestInTransaction` commits the transaction and audits any token reuse, or rolls the transaction back.
 * 9. If a check is due, `checkProviderAccountAfterRefresh` checks with the identity provider whether the account with which the user signed
 *    in still exists.
 */
import { hkdfSync, type KeyObject } from 'node:crypto';
import { maxRefreshGraceSeconds } from '@mandate/contract';
import type { Context, Middleware } from 'koa';
import type { AdapterFactory, KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { encryptText, decryptText } from '../../crypto/authenticated-encryption.ts';
import { getPresentedCertificate } from '../../http/request/client-certificate.ts';
import { getClientRefreshGraceSeconds } from '../clients/oidc-client-adapter.ts';
import { prefetchClientAndLimitSecretAttempts, type ClientPrefetchOptions } from '../clients/prefetch-client-and-limit-secret-attempts.ts';
import { recordConnectedAppUseAndGrantCreated } from '../grants/store-list-and-revoke-connected-apps.ts';
import { runRequestInTransaction } from '../grants/run-request-in-transaction.ts';
import { readForm } from '../protocol/buffered-request-body.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { getOauthRequestContext, type OauthRequestContext } from '../protocol/oauth-request-context.ts';
import { adapterPayloadFromOauthRecord, storedRefreshResponseModelName } from '../storage/oauth-record-mapping.ts';
import { thumbprintFromUnverifiedDpopProof } from '../tokens/verify-dpop-proof.ts';
import type { CheckProviderAccountAfterRefresh } from './create-provider-account-check-after-refresh.ts';

export const isRefreshRequest = async (ctx: Context): Promise<boolean> =>
  ctx.method === 'POST' &&
  ctx.path === oauthEndpointPaths.token &&
  Boolean(ctx.is('application/x-www-form-urlencoded')) &&
  (await readForm(ctx)).get('grant_type') === 'refresh_token';

/** Creates the middleware for refresh requests. No other middleware runs between this middleware and oidc-provider. */
export function createRefreshRequestMiddleware(
  options: ClientPrefetchOptions & { readonly checkProviderAccountAfterRefresh: CheckProviderAccountAfterRefresh },
): Middleware {
  const limitAttempts = prefetchClientAndLimitSecretAttempts(options);
  const runInTransaction = runRequestInTransaction(options.em);
  const recordUse = recordConnectedAppUseAndGrantCreated(options.em);
  return async (ctx, runProvider) => {
    await limitAttempts(ctx, async () => {
      await runInTransaction(ctx, async () => {
        await recordUse(ctx, runProvider);
      });
      await options.checkProviderAccountAfterRefresh(ctx);
    });
  };
}

export type RefreshGrantOptions = {
  readonly store: AdapterFactory;
  /** The stored responses are encrypted with this key and the presented refresh token. */
  readonly key: KeyObject;
  /** Grace period in seconds for clients that do not set one; 0 disables the replay. */
  readonly graceSeconds: number;
};

/**
 * Handles the `refresh_token` grant type. Within a grace period, a repeated request receives exactly the same response as the first
 * request, as long as the new refresh token has not been used. Two concurrent refreshes, or a retry after a lost response, are therefore
 * not treated as token theft (RFC 9700 section 4.14.2). A request counts as a repetition only if its client, scopes, resources,
 * authorization details, DPoP key and client certificate are the same as in the first request. oidc-provider performs all its checks before
 * the stored response is returned. Any other use of a rotated token is treated as reuse.
 *
 * Must run in the request transaction, so that the stored response is committed together with the tokens that it contains.
 * @param runProviderGrant oidc-provider's handler, which validates the request and sets `ctx.body` or throws an OAuth error
 */
export async function exchangeOrReplayRefreshToken(
  options: RefreshGrantOptions,
  ctx: KoaContextWithOIDC,
  runProviderGrant: () => Promise<void>,
): Promise<void> {
  const token = ctx.oidc.params?.['refresh_token'];
  if (typeof token !== 'string') return runProviderGrant(); // oidc-provider rejects the request
  const context = getOauthRequestContext(ctx.req);
  const request = await describeRefresh(options, ctx, context, token);
  await lockRefreshToken(options.store, context, token);
  const storedResponse = findStoredResponse(context, request, token);
  try {
    await runProviderGrant();
  } catch (error) {
    if (!(error instanceof RepeatedRefresh) || storedResponse === undefined) throw error;
    ctx.body = JSON.parse(storedResponse);
    return;
  }
  await storeResponse(options.store, ctx, request);
}

/** How the response to a refresh request is encrypted, and how long it is stored. */
type RefreshRequest = { readonly graceSeconds: number; readonly responseKey: Buffer; readonly fingerprint: string };

const describeRefresh = async (
  { key, graceSeconds }: RefreshGrantOptions,
  ctx: KoaContextWithOIDC,
  context: OauthRequestContext,
  token: string,
): Promise<RefreshRequest> => ({
  graceSeconds: getClientRefreshGraceSeconds(context, ctx.oidc.client?.clientId) ?? graceSeconds,
  responseKey: deriveResponseKey(key, token),
  fingerprint: await requestFingerprint(ctx),
});

/**
 * Derives the encryption key from the server's key and the old refresh token, so that neither a database copy nor the server secret alone
 * is enough to decrypt a response.
 */
const deriveResponseKey = (key: KeyObject, token: string): Buffer =>
  Buffer.from(hkdfSync('sha256', token, key.export(), 'refresh response', 32));

/**
 * Returns a fingerprint that is the same whenever a request is repeated. The fingerprint covers the scopes and resources (in any order),
 * the DPoP key, the certificate that the tokens are bound to, and the authorization details.
 */
async function requestFingerprint(ctx: KoaContextWithOIDC): Promise<string> {
  const { scope, resource, authorization_details: details } = ctx.oidc.params ?? {};
  const scopes = typeof scope === 'string' ? scope.split(' ') : [];
  const resources = [resource ?? []].flat().map(String);
  const proofKey = await thumbprintFromUnverifiedDpopProof(ctx.get('DPoP'));
  const isBound = ctx.oidc.client?.tlsClientCertificateBoundAccessTokens === true;
  const certificate = isBound ? getPresentedCertificate(ctx.req)?.certificate?.fingerprint256 : undefined;
  return JSON.stringify([
    sortedUnique(scopes),
    sortedUnique(resources),
    proofKey,
    ...(details === undefined ? [] : [details]),
    ...(certificate === undefined ? [] : [{ certificate }]),
  ]);
}

const sortedUnique = (values: readonly string[]): string[] => [...new Set(values)].toSorted();

/** Locks the grant and the token, and reads the user and the stored response in the same query (`createPostgresAdapterFactory`). */
async function lockRefreshToken(store: AdapterFactory, context: OauthRequestContext, token: string): Promise<void> {
  const payload = await store('RefreshToken').find(token);
  context.lockedRefreshToken = { token, payload: typeof payload === 'object' ? payload : undefined };
}

const storedResponseSchema = z.object({ sealed: z.string() });

/**
 * If this request repeats the request that rotated the token, returns the response to the earlier request. In this case, the token appears
 * unused to oidc-provider, which therefore performs all its checks.
 */
function findStoredResponse(
  context: OauthRequestContext,
  { graceSeconds, responseKey, fingerprint }: RefreshRequest,
  token: string,
): string | undefined {
  const { prefetched } = context;
  if (graceSeconds === 0 || !prefetched || prefetched.refresh_response === null) return undefined;
  const response = decryptText(storedResponseSchema.parse(JSON.parse(prefetched.refresh_response)).sealed, responseKey, fingerprint);
  if (response === undefined) return undefined;
  context.lockedRefreshToken = { token, payload: adapterPayloadFromOauthRecord({ ...prefetched, consumedAt: null }, token) };
  context.storedRefreshResponse = response;
  return response;
}

/** Thrown after oidc-provider's last check, to stop oidc-provider from issuing tokens. */
class RepeatedRefresh extends Error {}

/** Returns whether a refresh request receives the stored response to an earlier request instead of new tokens. */
export const isReplayedRefresh = (req: object): boolean => getOauthRequestContext(req).storedRefreshResponse !== undefined;

/**
 * Returns whether to rotate the refresh token. oidc-provider calls this function after its last check and before it issues tokens. A
 * key-bound refresh token (RFC 9449) is useless to a thief, so the token stays valid after use (RFC 9700 section 4.14.2 allows either
 * method). A client that loses the response simply retries. The refresh tokens of FAPI clients stay valid for the same reason (FAPI 2.0
 * Security Profile section 5.3.2.1): they require the client's key. Such a token is rotated when 70% of its lifetime has passed.
 */
export function shouldRotateOrThrowOnReplay(ctx: KoaContextWithOIDC): boolean {
  if (isReplayedRefresh(ctx.req)) throw new RepeatedRefresh();
  const { RefreshToken: token } = ctx.oidc.entities;
  const requiresKey = token?.isSenderConstrained() === true || ctx.oidc.isFapi('2.0') !== undefined;
  return !requiresKey || (token?.ttlPercentagePassed() ?? 0) >= 70;
}

/**
 * Stores the response if the token was rotated. If the token was not rotated, deletes the stored response that contained the presented
 * token.
 */
async function storeResponse(
  store: AdapterFactory,
  ctx: KoaContextWithOIDC,
  { graceSeconds, responseKey, fingerprint }: RefreshRequest,
): Promise<void> {
  const responses = store(storedRefreshResponseModelName);
  const { Grant: grant, RefreshToken: current, RotatedRefreshToken: rotated } = ctx.oidc.entities;
  if (!grant || !current) return;
  const { jti: grantId, accountId, clientId } = grant;
  if (rotated && graceSeconds > 0) {
    const sealed = encryptText(JSON.stringify(ctx.body), responseKey, fingerprint);
    await responses.upsert(grantId, { sealed, grantId, accountId, clientId }, graceSeconds); // replaces the response that contained the presented token
  } else if (isRecent(current)) await responses.destroy(grantId);
}

/** Returns whether the response that contained the token could still be in the database. */
const isRecent = ({ iat = 0 }: { iat?: number }): boolean => iat + maxRefreshGraceSeconds >= Date.now() / 1000;
