import type { OrderAuthorizationRequest } from '@mandate/client-sdk/authorization';
import { parseDecimalToMinorUnits } from '../contract-commands/parse-decimal-to-minor-units.ts';
import { CommandError, type FieldError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';

export type OrderLimitFlags = {
  readonly limitPerOrder?: string;
  readonly limitPerDay?: string;
  readonly limitPerWeek?: string;
  readonly limitPerMonth?: string;
  /** One element for each occurrence of the flag. */
  readonly limitCategory?: readonly string[];
  readonly currency?: string;
  readonly until?: string;
  readonly orders?: string;
  readonly approval?: string;
  /** Actions, separated by commas. */
  readonly actions?: string;
};

export const orderActionsInAuthorizationDetails = ['place', 'pay', 'cancel'] as const;
export const orderApprovalModes = ['above_limit', 'always', 'never'] as const;

const periods = { limitPerDay: 'day', limitPerWeek: 'week', limitPerMonth: 'month' } as const;

/** Order limits, without the `type` of the authorization details. */
export type OrderLimitsFromFlags = Omit<OrderAuthorizationRequest, 'type'>;

/**
 * Converts the flags to limits with amounts in minor units. Returns undefined if no flag is set.
 * @throws {CommandError} with one entry for each invalid flag
 */
export function parseOrderLimitFlags(flags: OrderLimitFlags, now: Date): OrderLimitsFromFlags | undefined {
  const { limitCategory, until, orders, approval: approvalText, actions: actionsText } = flags;
  if (!hasOrderLimitFlag(flags)) return undefined;
  const faults: FieldError[] = [];
  const addFault = (flag: string, message: string): undefined => void faults.push({ flag, path: flag.slice(2), message });
  const limits = parseSpendingLimits(flags, addFault);
  const validUntil = until === undefined ? undefined : parseLastDay(until, now, addFault);
  if (orders !== undefined && orders !== 'own' && orders !== 'all') addFault('--orders', 'must be own or all');
  const approval = orderApprovalModes.find((mode) => mode === approvalText);
  if (approvalText !== undefined && !approval) addFault('--approval', 'must be above_limit, always or never');
  const actions = actionsText === undefined ? undefined : parseActions(actionsText, addFault);
  if (faults.length > 0) throw new CommandError(exitCodes.usage, 'usage', 'Invalid command line; nothing was sent', { fields: faults });
  return {
    ...(limits && { limits }),
    ...(limitCategory && { products: { categories: [...new Set(limitCategory)] } }),
    ...(validUntil && { valid_until: validUntil.toISOString() }),
    ...((orders === 'own' || orders === 'all') && { orders }),
    ...(approval && { approval }),
    ...(actions && { actions }),
  };
}

/** Returns whether at least one of the flags is set. */
export const hasOrderLimitFlag = (flags: OrderLimitFlags): boolean => {
  const { limitCategory, currency, until, orders, approval, actions } = flags;
  return hasAmountFlag(flags) || [limitCategory, currency, until, orders, approval, actions].some((value) => value !== undefined);
};

/** Returns whether the flags contain an amount, which requires a currency. */
export const hasAmountFlag = ({ limitPerOrder, limitPerDay, limitPerWeek, limitPerMonth }: OrderLimitFlags): boolean =>
  [limitPerOrder, limitPerDay, limitPerWeek, limitPerMonth].some((value) => value !== undefined);

function parseActions(text: string, addFault: AddFault): OrderLimitsFromFlags['actions'] {
  const names = text.split(',').map((name) => name.trim());
  const actions = orderActionsInAuthorizationDetails.filter((action) => names.includes(action));
  return names.every((name) => orderActionsInAuthorizationDetails.some((action) => action === name))
    ? actions
    : addFault('--actions', 'must be a comma-separated list of one or more of: place, pay, cancel');
}

type AddFault = (flag: string, message: string) => undefined;

function parseSpendingLimits(flags: OrderLimitFlags, addFault: AddFault): OrderLimitsFromFlags['limits'] {
  const currency = flags.currency?.toUpperCase();
  const budgets = (['limitPerDay', 'limitPerWeek', 'limitPerMonth'] as const).flatMap((name) => {
    const text = flags[name];
    return text === undefined ? [] : [{ period: periods[name], flag: `--limit-per-${periods[name]}`, text }];
  });
  const [budget, ...others] = budgets;
  for (const { flag } of others) addFault(flag, `cannot be combined with ${budget?.flag}`);
  if (currency !== undefined && !Intl.supportedValuesOf('currency').includes(currency))
    addFault('--currency', 'must be an ISO 4217 code such as GBP');
  if (flags.limitPerOrder === undefined && !budget) {
    if (currency !== undefined) addFault('--currency', 'requires an amount, as in --limit-per-order 50');
    return undefined;
  }
  if (currency === undefined) return addFault('--currency', 'is required with an amount, as in --currency GBP');
  const parse = (flag: string, text: string): number | undefined => {
    const amount = parseDecimalToMinorUnits(text, currency);
    return amount !== undefined && amount > 0 ? amount : addFault(flag, `must be a positive amount of ${currency}, such as 50`);
  };
  const perOrder = flags.limitPerOrder === undefined ? undefined : parse('--limit-per-order', flags.limitPerOrder);
  const perPeriod = budget && parse(budget.flag, budget.text);
  return {
    currency,
    ...(perOrder !== undefined && { per_order: perOrder }),
    ...(budget && perPeriod !== undefined && { per_period: perPeriod, period: budget.period }),
  };
}

/** Returns the end of a day in the local time zone. */
function parseLastDay(text: string, now: Date, addFault: AddFault): Date | undefined {
  const end = new Date(`${text}T23:59:59.999`);
  // `Date` converts days that do not exist, such as February 30, to days of the next month.
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text) && end.getDate() === Number(text.slice(8));
  if (!isDate) return addFault('--until', 'must be a date such as 2027-01-31');
  return end > now ? end : addFault('--until', 'must not be in the past');
}
