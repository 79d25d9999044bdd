import { decodeJwt, decodeProtectedHeader } from 'jose';
import { errors, type Configuration } from 'oidc-provider';
import { z } from 'zod';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../../database/queries/insert-if-absent.ts';
import { UnusableDocumentError } from '../../outgoing-http/fetch-and-parse-json-document.ts';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import type { ClientKeyCache } from './client-key-cache.ts';

/**
 * Maximum remaining lifetime of a client assertion, in seconds. The `jti` of an assertion must be stored for this long. Some libraries set
 * a lifetime of one hour.
 */
export const maxClientAssertionSeconds = 60 * 60;
/** Maximum clock difference between the client and the server, in seconds. */
const toleranceSeconds = 60;

const claimsSchema = z.object({ sub: z.string() });
const headerSchema = z.object({ kid: z.string().optional() });

/** Returns the client ID and the key ID of a client assertion, without verifying the assertion. */
export function decodeUnverifiedClientAssertion(assertion: string): { readonly clientId: string; readonly kid: string | undefined } {
  try {
    const [{ sub }, { kid }] = [claimsSchema.parse(decodeJwt(assertion)), headerSchema.parse(decodeProtectedHeader(assertion))];
    return { clientId: sub, kid };
  } catch {
    return { clientId: '', kid: undefined }; // oidc-provider rejects a malformed assertion
  }
}

/**
 * Loads the client's keys from its `jwks_uri` before the request's transaction starts, so that a slow client server cannot keep a database
 * connection busy. oidc-provider receives the keys by value (oidc-client-adapter.ts) and never requests the URL.
 * @param kid key ID in the header of the client assertion or request object
 */
export async function prefetchPublishedClientKeys(keys: ClientKeyCache, req: object, kid: string | undefined): Promise<void> {
  const context = getOauthRequestContext(req);
  const { clientId, jwksUri } = context.client ?? {};
  if (clientId === undefined || jwksUri == null) return;
  try {
    context.clientKeys = { clientId, keys: await keys.load({ clientId, jwksUri, kid }) };
  } catch (error) {
    if (!(error instanceof UnusableDocumentError)) throw error;
    context.clientAuthenticationFailure = `jwks_uri: ${error.message}`;
  }
}

/**
 * Checks the claims of a verified client assertion that oidc-provider does not check. oidc-provider has already checked the signature,
 * `iss`, `sub`, `aud` and `nbf`, and has rejected an `exp` in the past.
 */
export const assertClientAssertionClaims: NonNullable<Configuration['assertJwtClientAuthClaimsAndHeader']> = (
  ctx,
  { exp, iat, aud },
  { alg },
) => {
  const now = Math.floor(Date.now() / 1000);
  if (typeof exp !== 'number' || exp > now + maxClientAssertionSeconds + toleranceSeconds)
    throw new errors.InvalidClientAuth(`exp must be at most ${maxClientAssertionSeconds} seconds in the future`);
  if (typeof iat === 'number' && iat > now + toleranceSeconds) throw new errors.InvalidClientAuth('iat must not be in the future');
  if (ctx.oidc.isFapi('2.0')) {
    if (aud !== ctx.oidc.issuer) throw new errors.InvalidClientAuth('aud must be the issuer identifier with the security profile fapi2');
    if (alg === 'RS256') throw new errors.InvalidClientAuth('alg must be ES256, PS256 or EdDSA with the security profile fapi2');
  }
  getOauthRequestContext(ctx.req).clientAssertion = { record: undefined };
};

/**
 * Restores the record that a rejected request's client assertion has been used, after a rollback of the request's transaction has removed
 * this record. An assertion can be used for only one request, even if that request fails.
 */
export async function markAssertionUsedAfterRollback(em: EntityManager, req: object): Promise<void> {
  const record = getOauthRequestContext(req).clientAssertion?.record;
  if (record) await insertIfAbsent(em, OauthRecord, record);
}
