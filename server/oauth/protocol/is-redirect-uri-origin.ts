/** Returns whether one of the redirect URIs has this origin, which means that the origin's pages belong to the client. */
export const isRedirectUriOrigin = (redirectUris: readonly string[], origin: string): boolean =>
  redirectUris.some((uri) => /^https?:/.test(uri) && new URL(uri).origin === origin);
