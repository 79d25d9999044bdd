import type { ConnectedAppLimits } from '@mandate/client-sdk';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { OrderLimitsFromFlags } from './parse-order-limit-flags.ts';

/**
 * Returns the current limits with the changes applied. Limits that the changes do not contain are kept.
 * @throws {CommandError} if the changes are in a different currency and would leave an amount in the current currency
 */
export function mergeOrderLimits(
  current: ConnectedAppLimits['customer_limits'][number] | undefined,
  changed: OrderLimitsFromFlags,
): OrderLimitsFromFlags {
  if (!current) return changed;
  const { type: _type, limits: currentLimits, ...conditions } = current;
  const limits = changed.limits ? mergeSpendingLimits(currentLimits, changed.limits) : currentLimits;
  return { ...conditions, ...changed, ...(limits && { limits }) };
}

type SpendingLimits = NonNullable<OrderLimitsFromFlags['limits']>;

function mergeSpendingLimits(current: SpendingLimits | undefined, changed: SpendingLimits): SpendingLimits {
  if (!current || current.currency === changed.currency) return { ...current, ...changed };
  const kept = [
    current.per_order !== undefined && changed.per_order === undefined && '--limit-per-order',
    current.per_period !== undefined && changed.per_period === undefined && `--limit-per-${current.period}`,
  ].find((flag) => flag !== false);
  if (kept === undefined) return changed;
  throw new CommandError(exitCodes.usage, 'usage', 'Invalid command line; nothing was changed', {
    fields: [{ flag: '--currency', path: 'currency', message: `the current amounts are in ${current.currency}; ${kept} is also required` }],
  });
}
