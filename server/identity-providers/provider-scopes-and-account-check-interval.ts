import type { IdentityProviderRow } from './identity-provider.entity.ts';

/** Scope that the server requests in order to get refresh tokens from a provider (OpenID Connect Core section 11). */
export const offlineAccessScope = 'offline_access';

type RequestFields = Pick<IdentityProviderRow, 'preset' | 'scopes'>;

/** Returns whether the server requests refresh tokens from a provider and uses them to check whether accounts still exist. */
export const requestsOfflineAccess = ({ scopes }: Pick<IdentityProviderRow, 'scopes'>): boolean => scopes.includes(offlineAccessScope);

/** Google and Apple do not support `offline_access`. Apple always issues a refresh token. */
const presetsWithoutOfflineAccessScope = new Set<IdentityProviderRow['preset']>(['google', 'apple']);

/**
 * Returns the parameters of an authorization request that determine which access the user is asked to grant.
 * @param isLinking whether a signed-in user is linking an account at the provider. Google issues a refresh token only when the user
 * consents, and the user may have consented before without linking the account.
 * @returns `scope`, and the parameters that the provider requires for offline access
 */
export function getProviderScopeParameters(
  { preset, scopes }: RequestFields,
  isLinking: boolean,
): { readonly scope: string } & Record<string, string> {
  const sent = presetsWithoutOfflineAccessScope.has(preset) ? scopes.filter((scope) => scope !== offlineAccessScope) : scopes;
  const scope = sent.join(' ');
  if (!requestsOfflineAccess({ scopes })) return { scope };
  if (preset === 'google') return { scope, access_type: 'offline', ...(isLinking && { prompt: 'consent' }) };
  return preset === 'oidc' ? { scope, prompt: 'consent' } : { scope };
}

const minuteMs = 60_000;
/** Apple recommends checking a refresh token at most once a day. */
const appleCheckIntervalMs = 24 * 60 * minuteMs;
const checkIntervalMs = 15 * minuteMs;

/** Returns the minimum interval, in milliseconds, between checks that an account still exists at its provider. */
export const getAccountCheckIntervalMs = (preset: IdentityProviderRow['preset'] | undefined): number =>
  preset === 'apple' ? appleCheckIntervalMs : checkIntervalMs;
