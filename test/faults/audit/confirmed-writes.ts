/** An order that somebody asked for. */
export type Asked = { readonly key: string; readonly path: string; readonly body: string };
/** The answer that confirmed something, byte for byte. */
export type Confirmed = Asked & { readonly text: string };
/** A form for the token endpoint that was good once. */
export type Spent = { readonly kind: 'code' | 'refresh token'; readonly form: Readonly<Record<string, string>> };

/** A file of new products that was taken for import, all of them of one category. */
export type Import = { readonly task: number; readonly category: string; readonly products: number };

/** A write that was confirmed: when it was sent and when its answer was there, as `performance.now()` has it. */
type Acknowledgement = { readonly began: number; readonly ended: number };

/** Everything that the servers confirmed, and what was asked of them without an answer. */
export class Ledger {
  readonly asked = new Map<string, Asked>();
  readonly orders = new Map<string, Confirmed>();
  readonly payments = new Map<number, Confirmed>();
  readonly cancellations = new Map<number, Confirmed>();
  readonly imports: Import[] = [];
  readonly spent: Spent[] = [];
  /** Access tokens that were revoked, and whose revocation was confirmed. */
  readonly revoked: string[] = [];
  /** Refresh tokens that nobody has used yet. */
  readonly standing: string[] = [];
  readonly acknowledgements: Acknowledgement[] = [];
  /** How often each status was answered; 0: no answer came. */
  readonly statuses = new Map<number, number>();
  /** Answers that no fault excuses. */
  readonly unexpected: string[] = [];
  /** What was let in although it had been revoked, and this had been confirmed. */
  readonly letIn: string[] = [];

  acknowledge(began: number): void {
    this.acknowledgements.push({ began, ended: performance.now() });
  }

  count(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}
