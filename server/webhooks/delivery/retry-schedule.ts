import { webhookTriesMax } from '@mandate/contract';

const [seconds, minutes, hours] = [1_000, 60_000, 3_600_000];

/** From one attempt to the next, as Standard Webhooks proposes: 75 hours in all. */
const delays = [5 * seconds, 5 * minutes, 30 * minutes, 2 * hours, 5 * hours, 10 * hours, 14 * hours, 20 * hours, 24 * hours] as const;
if (delays.length !== webhookTriesMax - 1) throw new Error('the schedule and the contract disagree');

/** The longest somebody can ask to be left alone. */
const retryAfterMax = 24 * hours;
/** What is meant by those who only say that it is too much. */
const breath = 5 * seconds;
const overloaded = new Set([429, 502, 503, 504]);

/**
 * How long until the next attempt, in milliseconds; `undefined` when there is none.
 * @param tries how many have failed
 * @param random 0 to 1, so that what failed together does not come back together
 */
export function delayAfter(tries: number, askedMs: number | undefined, random: number): number | undefined {
  const delay = delays[tries - 1];
  if (delay === undefined) return undefined;
  return Math.max(delay * (0.9 + random * 0.2), askedMs ?? 0);
}

/** For how long an endpoint is left alone altogether, in milliseconds; 0 when only this delivery has to wait. */
export const pauseAfter = (statusCode: number, askedMs: number | undefined): number =>
  overloaded.has(statusCode) ? (askedMs ?? (statusCode === 503 ? 0 : breath)) : 0;

/** `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const asked = /^\d+$/.test(header.trim()) ? Number(header) * seconds : Date.parse(header) - now.getTime();
  return Number.isNaN(asked) ? undefined : Math.min(Math.max(asked, 0), retryAfterMax);
}
