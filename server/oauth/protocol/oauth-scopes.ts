import { scopeNames, scopes, type Scope } from '@mandate/contract';

/** Scopes of OpenID Connect: about the person, not about the API, so no application needs a ceiling for them. */
export const identityScopes = ['openid', 'profile', 'email', 'offline_access'] as const;

const known = new Set<string>([...identityScopes, ...scopeNames]);

export const isKnownScope = (name: string): boolean => known.has(name);

export const isApiScope = (name: string): name is Scope => Object.hasOwn(scopes, name);

/** In the order of the names given, without what the API does not have. */
export const apiScopesAmong = (names: readonly string[]): Scope[] => names.filter(isApiScope);

/** In the order of the names given, only those of OpenID Connect. */
export const identityScopesAmong = (names: readonly string[]): string[] => names.filter((name) => isKnownScope(name) && !isApiScope(name));

/** Scopes with which an application could give access to others, or keep it without the user: an assistant has to request them by name. */
const beyondAssistants = new Set<Scope>(['users.write', 'webhooks.write', 'connected_apps.write', 'api_keys.manage']);

/**
 * The scopes that an assistant requests when it knows nothing of the shop (MCP authorization, scope selection strategy): the tools of
 * a customer, without administrative scopes. The user sees and can deselect each of them.
 */
export const assistantScopes: readonly Scope[] = scopeNames.filter((name) => !scopes[name].admin && !beyondAssistants.has(name));
