/** State of one limit, including the current request. */
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
