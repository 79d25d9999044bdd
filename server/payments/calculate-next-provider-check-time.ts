const [minDelayMs, maxDelayMs] = [30_000, 60 * 60_000];

/**
 * Returns when to poll a provider again: after half of the payment's or refund's age, so that new ones are polled often and old ones
 * rarely.
 */
export function calculateNextProviderCheckTime(createdAt: Date, now: Date): Date {
  const halfAgeMs = (now.getTime() - createdAt.getTime()) / 2;
  return new Date(now.getTime() + Math.min(maxDelayMs, Math.max(minDelayMs, halfAgeMs)));
}
