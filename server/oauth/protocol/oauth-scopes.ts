import { scopeNames, scopeDefinitions, type Scope } from '@mandate/contract';

/** OpenID Connect scopes. These scopes concern the user, not the API, so every client may request them. */
export const openIdConnectScopes = ['openid', 'profile', 'email', 'offline_access'] as const;
export type OpenIdConnectScope = (typeof openIdConnectScopes)[number];

const knownScopes = new Set<string>([...openIdConnectScopes, ...scopeNames]);

export const isKnownScope = (name: string): boolean => knownScopes.has(name);

export const isApiScope = (name: string): name is Scope => Object.hasOwn(scopeDefinitions, name);

/** Returns only the API scopes from a list of scope names, in the same order. */
export const filterApiScopes = (names: readonly string[]): Scope[] => names.filter(isApiScope);

/** Returns only the OpenID Connect scopes from a list of scope names, in the same order. */
export const filterOpenIdConnectScopes = (names: readonly string[]): string[] =>
  names.filter((name) => isKnownScope(name) && !isApiScope(name));

/**
 * Scopes that could give other parties access, or that could extend access without the user's involvement. An assistant receives these
 * scopes only if it requests them explicitly.
 */
const excludedFromAssistants = new Set<Scope>([
  'users.write',
  'webhooks.write',
  'connected_apps.write',
  'api_keys.manage',
  'approvals.decide',
]);

/**
 * Scopes that the MCP endpoint names in its 401 response to a client without a token. The list contains no scope for products, because
 * products are public. When a tool needs another scope, the MCP endpoint tells the client to request this scope.
 */
export const mcpChallengeScopes: readonly Scope[] = ['orders.read'];

/**
 * Scopes that an MCP client requests by default (MCP authorization, scope selection strategy). The default scopes cover the tools for
 * customers and exclude administrative scopes. The user sees each scope on the consent page and can deselect it.
 */
export const defaultMcpClientScopes: readonly Scope[] = scopeNames.filter(
  (name) => !scopeDefinitions[name].admin && !excludedFromAssistants.has(name),
);
