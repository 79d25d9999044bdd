/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Provides a client's access tokens. */
export type TokenSource = {
  /** Returns a token for the next request. */
  accessToken(): Promise<string>;
  /** Returns a replacement for a token that the API rejected, or `undefined` if there is no replacement. */
  replacement?(rejected: string): Promise<string | undefined>;
  /** Returns a DPoP proof for the request (RFC 9449). Without a proof, the token is sent as a bearer token. */
  proof?(request: ProvenRequest): Promise<string | undefined>;
  /**
   * Returns a wrapper for the `fetch` that sends requests. The wrapper can, for example, repeat a request with the server's nonce (RFC 9449
   * section 9).
   */
  wrapFetch?(fetch: Fetch): Fetch;
};

/** The request that a DPoP proof is created for. */
export type ProvenRequest = {
  readonly method: string;
  readonly url: string;
  /** Access token that is sent with the request; `undefined` in a token request. */
  readonly accessToken?: string | undefined;
};

/** Creates a token source that always returns `token`. */
export const fixedToken = (token: string): TokenSource => ({ accessToken: async () => token });
