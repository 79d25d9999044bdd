/** Where the access tokens of a client come from. */
export type TokenSource = {
  /** A token for the next request. */
  accessToken(): Promise<string>;
  /** Another token in place of one that the API refused, or `undefined` when there is none to be had. */
  replacement?(refused: string): Promise<string | undefined>;
  /** Proves that a request comes from whom the token was issued to (DPoP, RFC 9449). Without it, tokens are sent as Bearer. */
  proof?(request: ProvenRequest): Promise<string | undefined>;
};

export type ProvenRequest = {
  readonly method: string;
  readonly url: string;
  /** The token it is sent with; none is there yet where tokens are asked for. */
  readonly accessToken?: string | undefined;
};

/** A token that somebody else looks after. */
export const fixedToken = (token: string): TokenSource => ({ accessToken: async () => token });
