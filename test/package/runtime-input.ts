/** Input for `runtime-program.ts`. */
export type RuntimeInput = {
  readonly apiUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Access token to use instead of the client credentials, which the server does not accept from browsers. */
  readonly token?: string | undefined;
  readonly userId: number;
  readonly productId: number;
  /** URL of a server that redirects every request. */
  readonly redirectingUrl: string;
  /** URL of a server that never responds. */
  readonly silentUrl: string;
};
