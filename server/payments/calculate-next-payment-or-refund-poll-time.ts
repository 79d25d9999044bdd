const [minDelayMs, maxDelayMs] = [30_000, 60 * 60_000];

/**
 * Returns the time at which to poll a provider again. The delay is half the age of the payment or refund, so new payments and refunds are
 * polled more often than old ones.
 */
export function calculateNextPaymentOrRefundPollTime(createdAt: Date, now: Date): Date {
  const halfAgeMs = (now.getTime() - createdAt.getTime()) / 2;
  return new Date(now.getTime() + Math.min(maxDelayMs, Math.max(minDelayMs, halfAgeMs)));
}
