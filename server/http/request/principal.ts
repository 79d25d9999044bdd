import type { Scope } from '@mandate/contract';

/** Who a request acts for, and how far: what an access token turned out to say once it was checked. */
export type Principal = {
  /** The person the application acts for; `null` when the application acts for itself (client credentials, RFC 6749 section 4.4). */
  readonly user: { readonly id: number; readonly role: 'customer' | 'staff' | 'admin' } | null;
  /** The application's `client_id`. */
  readonly clientId: string;
  readonly scopes: ReadonlySet<Scope>;
  /**
   * When the user signed in, in seconds since 1970 (`auth_time`, RFC 9068 section 2.2.1): the sign-in that the token was issued
   * from, which a refresh does not renew. Absent for API keys and for applications that act for themselves.
   */
  readonly authTime?: number;
  /** How the credential was presented: `DPoP` means that the token is sender-constrained (RFC 9449). Absent when no request is behind it. */
  readonly authScheme?: Presented['scheme'];
  /** The primary key of the access token's record; absent for API keys. */
  readonly tokenRecordId?: string;
  /** How much it may ask; absent when no request is behind it. */
  readonly limits?: CallerLimits;
};

export type CallerLimits = {
  /** Which policy counts its requests. */
  readonly policy: 'default' | 'api-key';
  /** How many requests an administrator lets this application make; `null`: as many as any. */
  readonly perMinute: number | null;
  readonly perMonth: number | null;
};

/** Why a token was not accepted; also the `code` of the 401 problem. */
export type TokenRefusal = 'invalid_token' | 'expired_token' | 'revoked_token';

/** What a request presents: as Bearer whoever holds the token may use it, as DPoP whoever proves to be the one it was issued to (RFC 9449). */
export type Presented = {
  readonly scheme: 'Bearer' | 'DPoP';
  readonly token: string;
  /** The `DPoP` header and what it has to be about. */
  readonly proof?: string | undefined;
  readonly method: string;
  readonly path: string;
};

/** Checks signature, claims, and that the token and its grant still stand in the database. */
export type VerifyAccessToken = (presented: Presented) => Promise<Principal | TokenRefusal>;

/** Application and person in one word, for what is written down about who did something. */
export const actorOf = ({ clientId, user }: Principal): string => `${clientId}/${user?.id ?? ''}`;
