/** Whether a page of this origin belongs to an application: people come back to a URL of the origin after signing in. */
export const isOriginOfRedirect = (redirectUris: readonly string[], origin: string): boolean =>
  redirectUris.some((uri) => /^https?:/.test(uri) && new URL(uri).origin === origin);
