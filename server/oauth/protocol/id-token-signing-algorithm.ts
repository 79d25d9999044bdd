/** Algorithm with which ID tokens and logout tokens are signed; the default of OpenID Connect. */
export const idTokenSigningAlgorithm = 'RS256';
