import { maxWebhookAttempts } from '@mandate/contract';

const [seconds, minutes, hours] = [1_000, 60_000, 3_600_000];

/** Delays between attempts, as proposed by the Standard Webhooks specification. The delays add up to 75 hours. */
const delays = [5 * seconds, 5 * minutes, 30 * minutes, 2 * hours, 5 * hours, 10 * hours, 14 * hours, 20 * hours, 24 * hours] as const;
if (delays.length !== maxWebhookAttempts - 1) throw new Error('the retry schedule does not match the number of attempts in the contract');

/** Maximum delay that an endpoint can request with Retry-After. */
const retryAfterMax = 24 * hours;
/** Pause after an overload response without Retry-After. */
const defaultPause = 5 * seconds;
const overloaded = new Set([429, 502, 503, 504]);

/**
 * Returns the delay before the next attempt in milliseconds, or `undefined` if no attempt is left.
 * @param tries number of failed attempts
 * @param random jitter from 0 to 1, so that deliveries that failed at the same time are not retried at the same time
 */
export function calculateRetryDelayMs(tries: number, requestedMs: number | undefined, random: number): number | undefined {
  const delay = delays[tries - 1];
  if (delay === undefined) return undefined;
  return Math.max(delay * (0.9 + random * 0.2), requestedMs ?? 0);
}

/** Returns how long all deliveries to an endpoint are paused, in milliseconds; 0 if only this delivery has to wait. */
export const calculateEndpointPauseMs = (statusCode: number, requestedMs: number | undefined): number =>
  overloaded.has(statusCode) ? (requestedMs ?? (statusCode === 503 ? 0 : defaultPause)) : 0;

/** Parses `Retry-After` (RFC 9110 section 10.2.3), which contains seconds or a date, and returns milliseconds. */
export function parseRetryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const requested = /^\d+$/.test(header.trim()) ? Number(header) * seconds : Date.parse(header) - now.getTime();
  return Number.isNaN(requested) ? undefined : Math.min(Math.max(requested, 0), retryAfterMax);
}
