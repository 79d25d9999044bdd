import { decodeJwt, decodeProtectedHeader } from 'jose';
import { errors, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { clientAssertionAlgorithms } from '../../applications/parse-public-jwk.ts';
import { sha256 } from '../../crypto/sha256.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../../database/queries/insert-if-absent.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';

type RequestObjects = NonNullable<NonNullable<Configuration['features']>['requestObjects']>;

/**
 * Signature algorithms for request objects, which are the same asymmetric algorithms as for client assertions. `none` is never accepted
 * (RFC 9101 section 10.8).
 */
export const requestObjectAlgorithms = clientAssertionAlgorithms;

/** Maximum lifetime of a request object, in seconds (FAPI 2.0 Message Signing section 5.3.1). */
const secondsMax = 60 * 60;
/** Maximum clock difference between the client and the server, in seconds. */
const toleranceSeconds = 60;

/** Accepted values of `typ`: no value, the value that RFC 9101 section 10.8 specifies, and the value that older libraries use. */
const acceptedTypes = new Set([undefined, 'oauth-authz-req+jwt', 'jwt']);

/**
 * Checks the claims of a request object (RFC 9101) that oidc-provider does not check. oidc-provider itself checks the signature, `iss`,
 * `aud` and `client_id`, and rejects an `exp` in the past or an `nbf` in the future.
 */
const assertRequestObjectClaims: NonNullable<RequestObjects['assertJwtClaimsAndHeader']> = async (ctx, claims, header) => {
  // A pushed request object was checked when it was pushed; oidc-provider stores the pushed parameters without a signature.
  if (ctx.oidc.entities.PushedAuthorizationRequest) return;
  const fault = findRequestObjectFault(claims, header, Boolean(ctx.oidc.isFapi('2.0')), Math.floor(Date.now() / 1000));
  if (fault !== undefined) throw new errors.InvalidRequestObject(fault);
};

export const requestObjectConfiguration: RequestObjects = { enabled: true, assertJwtClaimsAndHeader: assertRequestObjectClaims };

type Members = Readonly<Record<string, unknown>>;

function findRequestObjectFault({ exp, nbf, sub, iss }: Members, { typ, alg }: Members, isFapi: boolean, now: number): string | undefined {
  if (!acceptedTypes.has(typeof typ === 'string' ? typ.toLowerCase() : undefined)) return 'typ must be oauth-authz-req+jwt';
  // A client assertion must not be accepted as a request object (RFC 9101 section 10.8).
  if (sub !== undefined && sub === iss) return 'sub must not be the client ID';
  if (typeof exp !== 'number') return 'exp is required';
  if (exp > now + secondsMax + toleranceSeconds) return `exp must be at most ${secondsMax} seconds in the future`;
  if (!isFapi) return undefined;
  if (alg === 'RS256') return 'alg must be ES256, PS256 or EdDSA with the security profile fapi2';
  if (typeof nbf !== 'number') return 'nbf is required with the security profile fapi2';
  if (nbf < now - secondsMax || exp - nbf > secondsMax) return `nbf must be at most ${secondsMax} seconds before exp and the current time`;
  return undefined;
}

const claimsSchema = z.object({ jti: z.string().optional(), exp: z.number() });
const headerSchema = z.object({ kid: z.string().optional() });

/** Returns the key ID of a request object, without verifying the request object. */
export function readKeyIdOfRequestObject(requestObject: string): string | undefined {
  try {
    return headerSchema.parse(decodeProtectedHeader(requestObject)).kid;
  } catch {
    return undefined; // oidc-provider rejects a malformed request object
  }
}

/** Returns the request object in the `request` parameter; undefined for a pushed request and for a request without this parameter. */
function readRequestObject({ oidc: { body }, method, query }: KoaContextWithOIDC): string | undefined {
  const requestObject = (method === 'POST' ? body : query)?.['request'];
  // A parameter without a value is treated as omitted (RFC 6749 section 3.1).
  return typeof requestObject === 'string' && requestObject !== '' ? requestObject : undefined;
}

/**
 * Returns the scope of the pushed request (RFC 9126) or of the request object (RFC 9101). If there is neither, returns the scope of the
 * request itself.
 */
export function readRequestedScope(ctx: KoaContextWithOIDC): unknown {
  const { entities, body } = ctx.oidc;
  // oidc-provider stores pushed parameters as an unsecured JWT.
  const requestObject = entities['PushedAuthorizationRequest']?.request ?? readRequestObject(ctx);
  if (requestObject !== undefined) return decodeJwt(requestObject)['scope'];
  return (ctx.method === 'POST' ? body : ctx.query)?.['scope'];
}

/**
 * Marks the identifier (`jti`) of a verified request object as used. A request object with an identifier can be used only once, like a
 * client assertion.
 */
export async function markRequestObjectUsedOrRejectReuse(em: EntityManager, ctx: KoaContextWithOIDC): Promise<void> {
  const requestObject = readRequestObject(ctx);
  if (requestObject === undefined) return;
  const { jti, exp } = claimsSchema.parse(decodeJwt(requestObject));
  if (jti === undefined) return;
  const id = sha256(`request object ${ctx.oidc.client?.clientId} ${jti}`, 'base64url');
  const expiresAt = new Date((exp + toleranceSeconds) * 1000);
  const isFirstUse = await insertIfAbsent(em, OauthRecord, { model: 'ReplayDetection', id, payload: '{}', expiresAt });
  if (!isFirstUse) throw new errors.InvalidRequestObject('a request object with jti must only be used once');
}
