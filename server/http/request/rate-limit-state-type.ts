/** State of one rate limit after the current request has been counted. */
export type RateLimitState = {
  /** Name in the rate limit headers. */
  readonly policy: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /** Number of requests made in the window. */
  readonly used: number;
  readonly remaining: number;
  /** Time when the full quota becomes available again. */
  readonly resetsAt: Date;
  /** Whether the current request exceeds the limit. */
  readonly exceeded: boolean;
};
