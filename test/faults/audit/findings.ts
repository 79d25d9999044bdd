/** Differences between the confirmed writes and the system state. */
export class Findings {
  /** Confirmed data that is missing or changed. */
  readonly lost: string[] = [];
  /** Data that was stored more than once, or without a request. */
  readonly duplicated: string[] = [];
  /** Used or revoked credentials that were accepted. */
  readonly wronglyAccepted: string[] = [];
  /** Unexpected responses and states that the injected fault cannot explain. */
  readonly unexpected: string[] = [];
  readonly notes: string[] = [];
}

export type AuditOptions = {
  /** Whether the audit makes pending deliveries and payment checks due immediately, instead of waiting for their leases to expire. */
  readonly expireLeases: boolean;
};
