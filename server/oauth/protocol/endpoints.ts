/** Where the protocol's endpoints are, below the issuer. */
export const endpoints = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revocation',
  introspection: '/oauth/introspection',
  jwks: '/oauth/jwks',
  userinfo: '/oauth/userinfo',
  end_session: '/oauth/logout',
  pushed_authorization_request: '/oauth/par',
  device_authorization: '/oauth/device-authorization',
  /** Where people type the code that a device shows them. */
  code_verification: '/oauth/device',
  registration: '/oauth/registration',
} as const;

/**
 * Every path that the engine serves, as patterns for an Express router. Its own router ignores case and a trailing slash, while the
 * middleware that limits guesses, opens transactions and checks the origin compares paths exactly: another spelling must not reach it.
 */
export const enginePaths: string[] = [
  ...Object.values(endpoints),
  `${endpoints.authorization}/:uid`,
  `${endpoints.code_verification}/:uid`,
  `${endpoints.end_session}/:step`,
  `${endpoints.registration}/:client_id`,
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
];

/** The path that the server lives below; empty where it has the host for itself. */
export const pathOf = (issuer: string): string => new URL(issuer).pathname.replace(/\/$/, '');

/** What access tokens of the API are for: their `aud`, and the `resource` to ask for (RFC 8707). */
export const apiAudience = (issuer: string): string => `${issuer}/api`;

/** The same for the tools of the API by the Model Context Protocol, whose clients ask for the address that they know. */
export const mcpAudience = (issuer: string): string => `${issuer}/mcp`;

/** Everything that there are access tokens for. What a person allows holds for all of it: the tools do what the API does. */
export const audiences = (issuer: string): string[] => [apiAudience(issuer), mcpAudience(issuer)];
