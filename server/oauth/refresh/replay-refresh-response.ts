import { hkdfSync, type KeyObject } from 'node:crypto';
import { refreshGraceSecondsMax } from '@mandate/contract';
import type { AdapterFactory, KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { noteOf } from '../../memory/object-metadata.ts';
import { seal, unseal } from '../../crypto/authenticated-encryption.ts';
import { refreshGraceOfClient } from '../clients/client-adapter.ts';
import { proofKeyThumbprint } from '../tokens/dpop-proof.ts';
import { refreshResponseModel } from '../storage/oauth-record-mapping.ts';

/** Runs around the engine's handler of the grant type, which checks the request and sets `ctx.body`, or throws an OAuth error. */
export type AroundRefresh = (ctx: KoaContextWithOIDC, handle: () => Promise<void>) => Promise<void>;

/** A request with a refresh token, and the stored response that the token opened, if the request repeats the one that rotated the token. */
type RefreshRequest = { readonly openResponse: (sealed: string) => string | undefined; response?: string | undefined };

const refreshRequests = noteOf<RefreshRequest>('refresh request');

/** Stops the engine after its last check and before it issues tokens. */
class RepeatedRefresh extends Error {}

/**
 * Whether the request in `ctx` repeats the request that rotated its refresh token (see `replayRefreshResponses`).
 * @param record what the token store found: the payload of the stored response, while the grace period lasts
 */
export function repeatsRefresh(ctx: object | undefined, record: string | null): boolean {
  const request = ctx && refreshRequests.get(ctx);
  if (!request || record === null) return false;
  request.response = request.openResponse(storedResponse.parse(JSON.parse(record)).sealed);
  return request.response !== undefined;
}

/** Whether the response in `ctx` is a stored one. */
export const isReplayedRefresh = (ctx: object): boolean => refreshRequests.get(ctx)?.response !== undefined;

/** The engine calls this when a refresh token has passed every check. Throws if the stored response is to be returned instead of new tokens. */
export function stopAtRepeatedRefresh(ctx: object): void {
  if (isReplayedRefresh(ctx)) throw new RepeatedRefresh();
}

export type ReplayOptions = {
  readonly store: AdapterFactory;
  readonly key: KeyObject;
  /** For clients without a grace period of their own; 0 turns replays off. */
  readonly graceSeconds: number;
};

/**
 * Wraps the engine's handler of the grant type `refresh_token`: within a grace period, a repeated request returns the response to the first
 * one byte for byte, as long as the successor has not been used. Two concurrent refreshes, or a retry after a lost response, are not taken
 * for theft (RFC 9700 section 4.14.2). Only the same request counts: the same client, scopes, resources and proof key. The engine makes all
 * its checks (client authentication, proof, grant, account) before the response is returned; any other use of a rotated token is reuse.
 *
 * Must run in the token transaction: the grant's row lock makes concurrent requests wait, and the response commits with the tokens in it.
 */
export const replayRefreshResponses =
  ({ store, key, graceSeconds }: ReplayOptions): AroundRefresh =>
  async (ctx, handle) => {
    const { client, params } = ctx.oidc;
    const token = params?.['refresh_token'];
    if (typeof token !== 'string') return handle();
    const seconds = refreshGraceOfClient(ctx, client?.clientId) ?? graceSeconds;
    const [sealingKey, identity] = [sealingKeyOf(key, token), await requestIdentity(ctx)];
    const request: RefreshRequest = { openResponse: (sealed) => unseal(sealed, sealingKey, identity) };
    if (seconds > 0) refreshRequests.set(ctx, request);
    try {
      await handle();
    } catch (error) {
      if (!(error instanceof RepeatedRefresh) || request.response === undefined) throw error;
      ctx.body = JSON.parse(request.response);
      return;
    }
    const responses = store(refreshResponseModel);
    const { Grant: grant, RefreshToken: current, RotatedRefreshToken: rotated } = ctx.oidc.entities;
    if (!grant || !current) return;
    const { jti: grantId, accountId, clientId } = grant;
    if (rotated && seconds > 0) {
      const sealed = seal(JSON.stringify(ctx.body), sealingKey, identity);
      await responses.upsert(grantId, { sealed, grantId, accountId, clientId }, seconds); // replaces the one that the token came in
    } else if (isRecent(current)) await responses.destroy(grantId);
  };

/** Whether the response in which the token was issued can still be stored. */
const isRecent = ({ iat = 0 }: { iat?: number }): boolean => iat + refreshGraceSecondsMax >= Date.now() / 1000;

const storedResponse = z.object({ sealed: z.string() });

/** Derived from the server's key and the old refresh token: neither a copy of the database nor the server's secret alone opens a response. */
const sealingKeyOf = (key: KeyObject, token: string): Buffer =>
  Buffer.from(hkdfSync('sha256', token, key.export(), 'refresh response', 32));

/** What two requests with one token have in common if they are the same: scopes and resources in any order, and the key of the DPoP proof. */
async function requestIdentity(ctx: KoaContextWithOIDC): Promise<string> {
  const { scope, resource } = ctx.oidc.params ?? {};
  const scopes = typeof scope === 'string' ? scope.split(' ') : [];
  const resources = [resource ?? []].flat().map(String);
  return JSON.stringify([sortedUnique(scopes), sortedUnique(resources), await proofKeyThumbprint(ctx.get('DPoP'))]);
}

const sortedUnique = (values: readonly string[]): string[] => [...new Set(values)].toSorted();
