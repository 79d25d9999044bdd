import type { KoaContextWithOIDC } from 'oidc-provider';

/** Returns all scopes granted for a token request, including OpenID Connect scopes, or undefined if no user is involved. */
export function getGrantedScopeOfTokenRequest({
  entities,
  params,
}: Pick<KoaContextWithOIDC['oidc'], 'entities' | 'params'>): string | undefined {
  const { Grant: grant, AuthorizationCode: code, DeviceCode: deviceCode, RefreshToken: refreshToken } = entities;
  const requested = params?.['scope'] ?? code?.scope ?? deviceCode?.scope ?? refreshToken?.scope;
  return grant && typeof requested === 'string' ? grant.getOIDCScopeFiltered(new Set(requested.split(' '))) : undefined;
}
