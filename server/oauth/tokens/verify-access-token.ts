import { isDeepStrictEqual } from 'node:util';
import { errors, jwtVerify, type JWTHeaderParameters } from 'jose';
import { z } from 'zod';
import type { Scope } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { type BatchedLookup, combineBatchedLookupsIntoOneStatement } from '../../database/queries/batched-statement.ts';
import type { ExpectedLookup, SpeculativeRead } from '../../database/queries/speculative-read.ts';
import { ShortLivedCache } from '../../memory/short-lived-cache.ts';
import type { PresentedToken, Principal, VerifyAccessToken } from '../../http/request/principal-and-token-types.ts';
import type { DpopNonces } from './dpop-nonces.ts';
import { createDpopProofVerifier } from './verify-dpop-proof.ts';
import { findActiveTokenUserAndLimits, type TokenStatus } from './find-active-token-user-and-limits.sql.ts';
import { deriveAccessTokenRecordId, type TokenVerificationKeys } from './customize-jwt-access-tokens.ts';
import { twoFactorAcrValue } from '../protocol/acr-and-amr.ts';
import { filterApiScopes } from '../protocol/oauth-scopes.ts';
import { hashSecretRecordId } from '../storage/oauth-record-mapping.ts';

const accessTokenClaims = z.object({
  jti: z.string(),
  exp: z.number(),
  client_id: z.string(),
  scope: z.string().default(''),
  auth_time: z.number().optional(),
  acr: z.string().optional(),
  /** Key for DPoP proofs (RFC 9449 section 6.1), or client certificate (RFC 8705 section 3.1), that the token is bound to. */
  cnf: z
    .object({ jkt: z.string().optional(), 'x5t#S256': z.string().optional() })
    .refine((cnf) => cnf.jkt !== undefined || cnf['x5t#S256'] !== undefined)
    .optional(),
});

type VerifiedToken = {
  readonly claims: z.infer<typeof accessTokenClaims>;
  /** Storage ID of the token record. */
  readonly record: string;
  readonly scopes: readonly Scope[];
  /** JWT header, which identifies the signing key. */
  readonly header: JWTHeaderParameters;
  /** Data that the database contained when the token was last used in this process. The database may have changed since then. */
  lastUse: { readonly status: TokenStatus; readonly principal: Principal } | undefined;
};

/**
 * Creates a verifier for access tokens (RFC 9068 section 4). The verifier checks the database on every call, so that a revocation takes
 * effect immediately.
 */
export function createAccessTokenVerifier(
  em: EntityManager,
  verification: TokenVerificationKeys,
  nonces: DpopNonces,
  audience: string,
): VerifyAccessToken {
  // Signing keys are cached at least as long as verified tokens, so this cache does not delay the effect of a key removal.
  const cache = new ShortLivedCache<VerifiedToken>();
  const verifyDpopProof = createDpopProofVerifier(em, nonces);
  return async ({ token, scheme, proof, certificateThumbprint, method, path, speculation }) => {
    try {
      const verified = cache.get(token) ?? cache.set(token, await verifySignatureAndClaims(token, verification, audience));
      const { claims, record, header, lastUse } = verified;
      await verification.keys(header, emptyJws); // throws if the signing key has been removed since the token was cached
      const now = new Date();
      if (claims.exp * 1000 <= now.getTime()) return 'expired_token';
      const { jkt, 'x5t#S256': boundCertificate } = claims.cnf ?? {};
      if ((jkt === undefined) !== (scheme === 'Bearer')) return 'invalid_token';
      if (boundCertificate !== undefined && boundCertificate !== certificateThumbprint()) return 'invalid_token';
      const { status, read } = await findStatus(em, record, lastUse && speculation?.expectLookup(lastUse.principal));
      if (!status || status.ends_at * 1000 <= now.getTime()) return 'revoked_token';
      if (jkt !== undefined) {
        const request = { proof: proof ?? '', method, url: new URL(path, verification.issuer).href };
        const result = await verifyDpopProof(jkt, token, request, new Date());
        if (result === 'use_nonce') return { dpopNonce: nonces.current(new Date()) };
        if (result === 'invalid') return 'invalid_token';
      }
      if (read) speculation?.keepResult(read);
      if (lastUse && isDeepStrictEqual(status, lastUse.status)) return lastUse.principal;
      const principal = toPrincipal(verified, status, scheme);
      verified.lastUse = { status, principal };
      return principal;
    } catch (error) {
      if (error instanceof errors.JWTExpired) return 'expired_token';
      if (error instanceof errors.JOSEError || error instanceof z.ZodError) return 'invalid_token';
      throw error;
    }
  };
}

type StatusAndRead = { readonly status: TokenStatus | undefined; readonly read?: SpeculativeRead };

/** Caches, for each lookup, a function that runs the lookup and the token status query in one statement. */
const combinedLookups = new WeakMap<
  BatchedLookup<unknown>,
  ReturnType<typeof combineBatchedLookupsIntoOneStatement<TokenStatus, unknown>>
>();

/** Finds a token's status and, in the same statement, the row that the request is expected to need. */
async function findStatus(em: EntityManager, record: string, expected: ExpectedLookup | undefined): Promise<StatusAndRead> {
  if (!expected) return { status: await findActiveTokenUserAndLimits(em, [record]) };
  const { lookup, parameters } = expected;
  const findBoth = combinedLookups.get(lookup) ?? combineBatchedLookupsIntoOneStatement(findActiveTokenUserAndLimits, lookup);
  combinedLookups.set(lookup, findBoth);
  const found = await findBoth(em, [record, ...parameters]);
  return found ? { status: found[0], read: { ...expected, row: found[1] ?? undefined } } : { status: undefined };
}

function toPrincipal({ claims, record, scopes }: VerifiedToken, status: TokenStatus, authScheme: PresentedToken['scheme']): Principal {
  return {
    user: status.user_id === null || status.role === null ? null : { id: status.user_id, role: status.role },
    clientId: claims.client_id,
    ...(claims.auth_time !== undefined && { authTime: claims.auth_time }),
    hasSecondFactor: claims.acr === twoFactorAcrValue,
    authScheme,
    tokenRecordId: record,
    ...(status.grant_id !== null && { grantId: status.grant_id }),
    ...(status.order_actions !== null && {
      orderAuthorization: {
        actions: status.order_actions,
        validUntil: status.orders_valid_until === null ? null : new Date(status.orders_valid_until),
        ownOrdersOnly: status.own_orders_only === true,
        canRequestApprovals: status.can_request_approvals === true,
      },
    }),
    limits: { policy: 'default', perMinute: status.rate_limit_per_minute, perMonth: status.quota_per_month },
    // The client's allowed scopes may have been reduced since the token was issued.
    scopes: new Set(scopes.filter((scope) => status.ceiling.includes(scope))),
  };
}

const emptyJws = { payload: '', signature: '' };

/** Verifies a token's signature and claims. The result can be cached, because it does not depend on the database. */
async function verifySignatureAndClaims(
  token: string,
  { issuer, keys, referenceKey }: TokenVerificationKeys,
  audience: string,
): Promise<VerifiedToken> {
  const { payload, protectedHeader: header } = await jwtVerify(token, keys, {
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer,
    audience,
    requiredClaims: ['exp', 'iat', 'sub'],
  });
  const claims = accessTokenClaims.parse(payload);
  return {
    claims,
    record: hashSecretRecordId(deriveAccessTokenRecordId(referenceKey, claims.jti)),
    scopes: filterApiScopes(claims.scope.split(' ')),
    header,
    lastUse: undefined,
  };
}
