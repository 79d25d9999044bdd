import type { OrderAction, Scope } from '@mandate/contract';
import type { ExpectedLookup, SpeculativeRead } from '../../database/queries/speculative-read.ts';

/** The caller's identity and permissions, as specified by the request's verified access token or API key. */
export type Principal = {
  /** The user on whose behalf the application acts; `null` if it acts on its own behalf (client credentials, RFC 6749 section 4.4). */
  readonly user: { readonly id: number; readonly role: 'customer' | 'staff' | 'admin' } | null;
  readonly clientId: string;
  readonly scopes: ReadonlySet<Scope>;
  /**
   * Time of the user's sign-in, in seconds since 1970 (`auth_time`, RFC 9068 section 2.2.1). A refresh does not change this time. Absent
   * for API keys and for client credentials.
   */
  readonly authTime?: number;
  /** Whether the user signed in with a second factor. A refresh does not change this value. Absent for API keys and client credentials. */
  readonly hasSecondFactor?: boolean;
  /** How the credential was presented: `DPoP` means that the token is sender-constrained (RFC 9449). Absent outside of requests. */
  readonly authScheme?: PresentedToken['scheme'];
  /**
   * ID of the grant that the token belongs to. For an API key with limits, the grant ID under which the limits are stored. Absent for other
   * API keys and for applications that act on their own behalf.
   */
  readonly grantId?: string;
  /** Limits that the user set for orders; absent if only the scopes limit the application. */
  readonly orderAuthorization?: OrderAuthorization;
  /** Primary key of the access token record; absent for API keys. */
  readonly tokenRecordId?: string;
  /** The caller's request limits; absent outside of requests. */
  readonly limits?: CallerLimits;
};

type OrderAuthorization = {
  readonly actions: readonly OrderAction[];
  readonly validUntil: Date | null;
  /** Whether the application can access only the orders that it placed. */
  readonly ownOrdersOnly: boolean;
  /**
   * Whether orders can require the user's approval, either because an order exceeds a limit or because every order requires approval.
   * Absent for API keys.
   */
  readonly canRequestApprovals?: boolean;
};

export type CallerLimits = {
  /** The rate limit policy that applies. */
  readonly policy: 'default' | 'api-key';
  /** Limits that an administrator set for this application; `null` means the default limits. */
  readonly perMinute: number | null;
  readonly perMonth: number | null;
};

/** Reason why a token was rejected; also the `code` in the 401 response. */
export type TokenErrorCode = 'invalid_token' | 'expired_token' | 'revoked_token';

/**
 * A request's credential. Anyone who has a Bearer token can use it, unless the token is bound to a client certificate (RFC 8705). A DPoP
 * token can be used only with the key to which it is bound (RFC 9449).
 */
export type PresentedToken = {
  readonly scheme: 'Bearer' | 'DPoP';
  readonly token: string;
  /** The `DPoP` header; the proof must cover `method` and `path`. */
  readonly proof?: string | undefined;
  /** Returns the thumbprint of the client's certificate; undefined if there is no acceptable certificate. */
  readonly certificateThumbprint: () => string | undefined;
  readonly method: string;
  readonly path: string;
  /** Combines the read that the request needs with the token's verification. Absent for credentials of the MCP endpoint. */
  readonly speculation?: ReadSpeculation;
};

/**
 * A read that the access token verifier combines with its own query in one statement, which saves a round trip to the database. The
 * verifier assumes that the token's principal has not changed since it was last verified.
 */
export type ReadSpeculation = {
  /** Returns the lookup that the request will need if its token belongs to the expected principal. */
  readonly expectLookup: (expected: Principal) => ExpectedLookup | undefined;
  /** Called only if the token is valid. The result may be used only if the same lookup would be made for the verified principal. */
  readonly keepResult: (read: SpeculativeRead) => void;
};

/** Verifies a token's signature and claims, and checks that the token and its grant are still active in the database. */
export type VerifyAccessToken = (presented: PresentedToken) => Promise<Principal | TokenErrorCode | DpopNonceRequest>;

/** Result for a proof that is not recent enough: the client must send a new proof with this nonce (RFC 9449 section 9). */
export type DpopNonceRequest = { readonly dpopNonce: string };

/** Returns a string that identifies the application and the user. */
export const formatPrincipalKey = ({ clientId, user }: Principal): string => `${clientId}/${user?.id ?? ''}`;
