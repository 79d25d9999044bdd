/** A write request with its idempotency key. */
export type WriteRequest = { readonly key: string; readonly path: string; readonly body: string };
/** A write request with the exact body of the response that confirmed it. */
export type ConfirmedWrite = WriteRequest & { readonly text: string };
/** The form parameters of a token request whose credential has already been used. */
export type UsedCredential = { readonly kind: 'code' | 'refresh token'; readonly form: Readonly<Record<string, string>> };

/** An accepted import file. All imported products are new and share one category. */
export type AcceptedImport = { readonly task: number; readonly category: string; readonly products: number };

/** Times of a confirmed write, from `performance.now()`. */
type Acknowledgement = { readonly began: number; readonly ended: number };

/** All confirmed writes, and all order requests, including those without a response. */
export class Ledger {
  readonly orderRequests = new Map<string, WriteRequest>();
  readonly orders = new Map<string, ConfirmedWrite>();
  readonly payments = new Map<number, ConfirmedWrite>();
  readonly cancellations = new Map<number, ConfirmedWrite>();
  readonly imports: AcceptedImport[] = [];
  readonly usedCredentials: UsedCredential[] = [];
  /** Access tokens whose revocation has been confirmed. */
  readonly revoked: string[] = [];
  /** Refresh tokens that have not been used yet. */
  readonly unusedRefreshTokens: string[] = [];
  readonly acknowledgements: Acknowledgement[] = [];
  /** Number of responses by status. Status 0 counts requests without a response. */
  readonly statuses = new Map<number, number>();
  /** Responses that cannot be explained by the fault. */
  readonly unexpected: string[] = [];
  /** Credentials that a server accepted after it had confirmed their revocation. */
  readonly wronglyAccepted: string[] = [];

  acknowledge(began: number): void {
    this.acknowledgements.push({ began, ended: performance.now() });
  }

  count(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}
