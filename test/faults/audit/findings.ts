/** Differences between the confirmed writes and the system state. */
export class Findings {
  /** Confirmed data that is missing or changed. */
  readonly lost: string[] = [];
  /** Data that was stored more often than requested. */
  readonly duplicated: string[] = [];
  /** Used or revoked credentials that were accepted. */
  readonly wronglyAccepted: string[] = [];
  /** Responses that no fault explains. */
  readonly unexpected: string[] = [];
  readonly notes: string[] = [];
}

export type AuditOptions = {
  /** Whether the audit makes pending deliveries and payment checks due at once, instead of waiting for their leases to expire. */
  readonly expireLeases: boolean;
};
