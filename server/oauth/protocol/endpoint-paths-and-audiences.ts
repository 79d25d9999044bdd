/** Paths of the OAuth and OpenID Connect endpoints, relative to the issuer. */
export const oauthEndpointPaths = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revocation',
  introspection: '/oauth/introspection',
  jwks: '/oauth/jwks',
  userinfo: '/oauth/userinfo',
  end_session: '/oauth/logout',
  pushed_authorization_request: '/oauth/par',
  device_authorization: '/oauth/device-authorization',
  /** Page on which users enter the code that a device shows. */
  code_verification: '/oauth/device',
  registration: '/oauth/registration',
} as const;

/** HTTP methods that the endpoints accept, by path. */
export const oauthEndpointMethods: Readonly<Record<string, readonly string[]>> = {
  [oauthEndpointPaths.authorization]: ['GET', 'HEAD', 'POST'],
  [oauthEndpointPaths.token]: ['POST'],
  [oauthEndpointPaths.revocation]: ['POST'],
  [oauthEndpointPaths.introspection]: ['POST'],
  [oauthEndpointPaths.jwks]: ['GET', 'HEAD'],
  [oauthEndpointPaths.userinfo]: ['GET', 'HEAD', 'POST'],
  [oauthEndpointPaths.end_session]: ['GET', 'HEAD', 'POST'],
  [oauthEndpointPaths.pushed_authorization_request]: ['POST'],
  [oauthEndpointPaths.device_authorization]: ['POST'],
  [oauthEndpointPaths.code_verification]: ['GET', 'HEAD', 'POST'],
  [oauthEndpointPaths.registration]: ['POST'],
};

/**
 * Express route patterns for every path that oidc-provider serves. oidc-provider's own router ignores case and trailing slashes. This
 * server's middleware (attempt limits, transactions, origin checks) compares paths exactly, so other spellings must not reach
 * oidc-provider.
 */
export const oidcProviderRoutePatterns: string[] = [
  ...Object.values(oauthEndpointPaths),
  `${oauthEndpointPaths.authorization}/:uid`,
  `${oauthEndpointPaths.code_verification}/:uid`,
  `${oauthEndpointPaths.end_session}/:step`,
  `${oauthEndpointPaths.registration}/:client_id`,
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
];

/** Returns the server's base path; empty if the issuer has no path. */
export const basePathFromIssuer = (issuer: string): string => new URL(issuer).pathname.replace(/\/$/, '');

/** Returns the `aud` of access tokens for the API, which is also the `resource` that clients request (RFC 8707). */
export const apiAudienceFromIssuer = (issuer: string): string => `${issuer}/api`;

/** Returns the audience of access tokens for the MCP endpoint: its URL, because MCP clients request a token for the URL that they know. */
export const mcpAudienceFromIssuer = (issuer: string): string => `${issuer}/mcp`;

/** Returns all access token audiences. Consent covers both the API and the MCP endpoint, because the MCP tools call the API. */
export const listAccessTokenAudiences = (issuer: string): string[] => [apiAudienceFromIssuer(issuer), mcpAudienceFromIssuer(issuer)];
