import { scopeNames, scopes, type Scope } from '@mandate/contract';

/** Scopes of OpenID Connect: about the person, not about the API, so no application needs a ceiling for them. */
export const identityScopes = ['openid', 'profile', 'email', 'offline_access'] as const;

const known = new Set<string>([...identityScopes, ...scopeNames]);

export const isKnownScope = (name: string): boolean => known.has(name);

export const isApiScope = (name: string): name is Scope => Object.hasOwn(scopes, name);

/** In the order of the names given, without what the API does not have. */
export const apiScopesAmong = (names: readonly string[]): Scope[] => names.filter(isApiScope);
