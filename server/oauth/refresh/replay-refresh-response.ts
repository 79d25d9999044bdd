import { hkdfSync, type KeyObject } from 'node:crypto';
import { maxRefreshGraceSeconds } from '@mandate/contract';
import type { AdapterFactory, KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { defineObjectMetadata } from '../../memory/object-metadata.ts';
import { encryptText, decryptText } from '../../crypto/authenticated-encryption.ts';
import { clientRefreshGraceSeconds } from '../clients/client-adapter.ts';
import { dpopKeyThumbprint } from '../tokens/dpop-proof.ts';
import { refreshResponseRecordModel } from '../storage/oauth-record-mapping.ts';

/** Wraps the provider's refresh token grant handler, which validates the request and sets `ctx.body` or throws an OAuth error. */
export type RefreshHandlerWrapper = (ctx: KoaContextWithOIDC, handle: () => Promise<void>) => Promise<void>;

/** State of a refresh request. `response` is the decrypted stored response if the request repeats the one that rotated the token. */
type RefreshRequest = { readonly decryptResponse: (sealed: string) => string | undefined; response?: string | undefined };

const refreshRequests = defineObjectMetadata<RefreshRequest>('refresh request');

/** Thrown after the provider's last check to stop the provider before it issues tokens. */
class RepeatedRefresh extends Error {}

/**
 * Returns whether the request in `ctx` repeats the request that rotated its refresh token (see `replayRefreshResponses`), and keeps the
 * stored response for the repeated request.
 * @param record payload of the stored response, or null after the grace period
 */
export function detectRepeatedRefresh(ctx: object | undefined, record: string | null): boolean {
  const request = ctx && refreshRequests.get(ctx);
  if (!request || record === null) return false;
  request.response = request.decryptResponse(storedResponse.parse(JSON.parse(record)).sealed);
  return request.response !== undefined;
}

/** Returns whether the response in `ctx` is a stored response. */
export const isReplayedRefresh = (ctx: object): boolean => refreshRequests.get(ctx)?.response !== undefined;

/** Throws if the stored response must be returned instead of new tokens. Called after a refresh token has passed every check. */
export function throwIfRepeatedRefresh(ctx: object): void {
  if (isReplayedRefresh(ctx)) throw new RepeatedRefresh();
}

export type RefreshReplayOptions = {
  readonly store: AdapterFactory;
  readonly key: KeyObject;
  /** Grace period in seconds for clients that do not set one; 0 disables the replay. */
  readonly graceSeconds: number;
};

/**
 * Wraps the provider's handler for the `refresh_token` grant type. Within a grace period, a repeated request returns the first response
 * byte for byte, as long as the new refresh token has not been used. Two concurrent refreshes, or a retry after a lost response, are
 * therefore not treated as token theft (RFC 9700 section 4.14.2). A request counts as repeated only if client, scopes, resources and DPoP
 * key are the same. The provider performs all its checks (client authentication, DPoP proof, grant, account) before the stored response is
 * returned. Any other use of a rotated token is treated as reuse.
 *
 * Must run in the request transaction: the row lock on the grant makes concurrent requests wait, and the stored response is committed
 * together with the tokens in it.
 */
export const replayRefreshResponses =
  ({ store, key, graceSeconds }: RefreshReplayOptions): RefreshHandlerWrapper =>
  async (ctx, handle) => {
    const { client, params } = ctx.oidc;
    const token = params?.['refresh_token'];
    if (typeof token !== 'string') return handle();
    const seconds = clientRefreshGraceSeconds(ctx, client?.clientId) ?? graceSeconds;
    const [responseKey, fingerprint] = [deriveResponseKey(key, token), await requestFingerprint(ctx)];
    const request: RefreshRequest = { decryptResponse: (sealed) => decryptText(sealed, responseKey, fingerprint) };
    if (seconds > 0) refreshRequests.set(ctx, request);
    try {
      await handle();
    } catch (error) {
      if (!(error instanceof RepeatedRefresh) || request.response === undefined) throw error;
      ctx.body = JSON.parse(request.response);
      return;
    }
    const responses = store(refreshResponseRecordModel);
    const { Grant: grant, RefreshToken: current, RotatedRefreshToken: rotated } = ctx.oidc.entities;
    if (!grant || !current) return;
    const { jti: grantId, accountId, clientId } = grant;
    if (rotated && seconds > 0) {
      const sealed = encryptText(JSON.stringify(ctx.body), responseKey, fingerprint);
      await responses.upsert(grantId, { sealed, grantId, accountId, clientId }, seconds); // replaces the stored response that contained the presented token
    } else if (isRecent(current)) await responses.destroy(grantId);
  };

/** Returns whether the response that issued the token can still be in storage. */
const isRecent = ({ iat = 0 }: { iat?: number }): boolean => iat + maxRefreshGraceSeconds >= Date.now() / 1000;

const storedResponse = z.object({ sealed: z.string() });

/** Derives the key from the server's key and the old refresh token: neither a database copy nor the server secret alone decrypts a response. */
const deriveResponseKey = (key: KeyObject, token: string): Buffer =>
  Buffer.from(hkdfSync('sha256', token, key.export(), 'refresh response', 32));

/** Returns a fingerprint that is the same for every repetition of a request: the scopes and resources, in any order, and the DPoP key. */
async function requestFingerprint(ctx: KoaContextWithOIDC): Promise<string> {
  const { scope, resource } = ctx.oidc.params ?? {};
  const scopes = typeof scope === 'string' ? scope.split(' ') : [];
  const resources = [resource ?? []].flat().map(String);
  return JSON.stringify([sortedUnique(scopes), sortedUnique(resources), await dpopKeyThumbprint(ctx.get('DPoP'))]);
}

const sortedUnique = (values: readonly string[]): string[] => [...new Set(values)].toSorted();
