import { errors, type Configuration } from 'oidc-provider';
import { z } from 'zod';
import type { OpenIdConnectScope } from './oauth-scopes.ts';

/** Claims about the user that clients can request, grouped by the scope that grants them (OpenID Connect Core section 5.4). */
export const claimsByScope = {
  profile: ['name', 'updated_at'],
  email: ['email', 'email_verified'],
} as const satisfies Partial<Record<OpenIdConnectScope, readonly string[]>>;

const requestedClaimSchema = z
  .object({ essential: z.boolean().optional(), value: z.unknown(), values: z.array(z.unknown()).optional() })
  .nullable();
const claimsSchema = z.object({
  userinfo: z.record(requestedClaimSchema).default({}),
  id_token: z.record(requestedClaimSchema).default({}),
});

type ClaimsParameter = NonNullable<NonNullable<Configuration['features']>['claimsParameter']>;

/** Rejects a claims parameter whose members have the wrong type. Unknown claims are ignored (OpenID Connect Core section 5.5). */
export const assertClaimsParameter: NonNullable<ClaimsParameter['assertClaimsParameter']> = async (_ctx, claims) => {
  const parsed = claimsSchema.safeParse(claims);
  if (parsed.success) return;
  const [{ path, message } = { path: [], message: '' }] = parsed.error.issues;
  throw new errors.InvalidRequest(`claims.${path.join('.')} is not valid: ${message}`);
};

/** Returns the claims about the user that an authorization request names, each with the scope that grants the claim. */
export function listClaimsParameterUserClaims({
  claims,
}: Readonly<Record<string, unknown>>): readonly { readonly claim: string; readonly scope: OpenIdConnectScope }[] {
  if (typeof claims !== 'string') return [];
  const { userinfo, id_token: idToken } = claimsSchema.parse(JSON.parse(claims)); // validated when the request was received
  const requested = new Set([...Object.keys(userinfo), ...Object.keys(idToken)]);
  return grantableClaims.filter(({ claim }) => requested.has(claim));
}

const grantableClaims = (['profile', 'email'] as const).flatMap((scope) => claimsByScope[scope].map((claim) => ({ claim, scope })));

/** The `acr` values that a request contains, as an essential or a voluntary claim. */
export type RequestedAcr = { readonly values: readonly string[]; readonly isEssential: boolean };

const requestedAcrSchema = z
  .object({ essential: z.boolean().default(false), value: z.string().optional(), values: z.array(z.string()).default([]) })
  .catch({ essential: false, values: [] });

/** Parses a request for the ID token's `acr` claim. oidc-provider also converts `acr_values` to such a request, as a voluntary claim. */
export function parseRequestedAcr(request: unknown): RequestedAcr {
  const { essential: isEssential, value, values } = requestedAcrSchema.parse(request ?? {});
  return { isEssential, values: value === undefined ? values : [value] };
}
