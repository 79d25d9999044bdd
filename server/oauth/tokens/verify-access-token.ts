import { errors, jwtVerify, type JWTHeaderParameters } from 'jose';
import { z } from 'zod';
import type { Scope } from '@mandate/contract';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { gatheredStatement } from '../../database/queries/batched-statement.ts';
import type { VerifyAccessToken } from '../../http/request/principal.ts';
import type { User } from '../../users/user.entity.ts';
import { isProven } from './dpop-proof.ts';
import { tokenReference, type Verification } from './access-token-records.ts';
import { apiScopesAmong } from '../protocol/oauth-scopes.ts';
import { recordKey } from '../storage/oauth-record-mapping.ts';
import { RecentlyVerified } from './verified-token-cache.ts';

type Standing = {
  user_id: number | null;
  role: User['role'] | null;
  ceiling: string[];
  rate_limit_per_minute: number | null;
  quota_per_month: number | null;
  /** When the token and its grant end, in seconds since 1970. */
  ends_at: number;
};

/** One row when the token, its grant, its application and its user all still stand, until the token or the grant ends; none otherwise. */
const findStanding = gatheredStatement<Standing>(
  'token_standing',
  ['text'],
  `select u.id as user_id, u.role, a.scopes as ceiling, a.rate_limit_per_minute, a.quota_per_month,
     extract(epoch from least(t.expires_at, g.expires_at))::float8 as ends_at
   from oauth_records t
   join applications a on a.client_id = t.client_id and a.status = 'active'
   left join oauth_records g on g.model = 'Grant' and g.id = t.grant_id
   left join users u on u.id = t.account_id::bigint and u.status = 'active'
   where t.model in ('AccessToken', 'ClientCredentials') and t.id = $1
     and (t.grant_id is null or g.id is not null) and (t.account_id is null or u.id is not null)`,
);

const accessTokenClaims = z.object({
  jti: z.string(),
  exp: z.number(),
  client_id: z.string(),
  scope: z.string().default(''),
  auth_time: z.number().optional(),
  /** Of whose key a proof is needed (RFC 9449 section 6.1). */
  cnf: z.object({ jkt: z.string() }).optional(),
});

type Verified = {
  readonly claims: z.infer<typeof accessTokenClaims>;
  /** The key of its record. */
  readonly record: string;
  readonly scopes: readonly Scope[];
  /** Names the key that signed it. */
  readonly header: JWTHeaderParameters;
};

/** What the API asks of a token (RFC 9068 section 4), and then of the database: a revocation is effective with the next request. */
export function accessTokenVerifier(em: Em, verification: Verification, audience: string): VerifyAccessToken {
  const known = new RecentlyVerified<Verified>();
  return async ({ token, scheme, proof, method, path }) => {
    try {
      const { claims, record, scopes, header } = known.find(token) ?? known.keep(token, await verify(token, verification, audience));
      await verification.keys(header, unsigned); // its key may have been taken away since
      const now = new Date();
      if (claims.exp * 1000 <= now.getTime()) return 'expired_token';
      if ((claims.cnf === undefined) !== (scheme === 'Bearer')) return 'invalid_token';
      const standing = await findStanding(em, [record]);
      if (!standing || standing.ends_at * 1000 <= now.getTime()) return 'revoked_token';
      if (claims.cnf !== undefined) {
        const request = { proof: proof ?? '', method, url: new URL(path, verification.issuer).href };
        if (!(await isProven(em, claims.cnf.jkt, token, request, new Date()))) return 'invalid_token';
      }
      return {
        user: standing.user_id === null || standing.role === null ? null : { id: standing.user_id, role: standing.role },
        clientId: claims.client_id,
        ...(claims.auth_time !== undefined && { authTime: claims.auth_time }),
        authScheme: scheme,
        tokenRecordId: record,
        limits: { policy: 'default', perMinute: standing.rate_limit_per_minute, perMonth: standing.quota_per_month },
        // the ceiling of the application may have been lowered since
        scopes: new Set(scopes.filter((scope) => standing.ceiling.includes(scope))),
      };
    } catch (error) {
      if (error instanceof errors.JWTExpired) return 'expired_token';
      if (error instanceof errors.JOSEError || error instanceof z.ZodError) return 'invalid_token';
      throw error;
    }
  };
}

const unsigned = { payload: '', signature: '' };

/** The part that stays true of the same token: its signature and what it says of itself. */
async function verify(token: string, { issuer, keys, referenceKey }: Verification, audience: string): Promise<Verified> {
  const { payload, protectedHeader: header } = await jwtVerify(token, keys, {
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer,
    audience,
    requiredClaims: ['exp', 'iat', 'sub'],
  });
  const claims = accessTokenClaims.parse(payload);
  return { claims, record: recordKey(tokenReference(referenceKey, claims.jti)), scopes: apiScopesAmong(claims.scope.split(' ')), header };
}
