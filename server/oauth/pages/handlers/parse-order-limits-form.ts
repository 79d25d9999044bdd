import {
  maxLimitedCategories,
  orderActionsInAuthorizationDetails,
  parsedOrderLimitsFormSchema,
  type OrderAction,
  type OrderApprovalMode,
  type EffectiveOrderLimits,
  type OrderSpendingLimits,
} from '@mandate/contract';
import { getEndOfDayInTimeZone, getKnownTimeZoneOrUtc } from '../../../order-limits/time-zone-names-and-end-of-day.ts';
import type { Messages } from '../../../languages/languages.ts';
import { formatMoney } from '../views/format-time-and-money.ts';
import {
  formatAmountWithoutCurrency,
  formatUtcDay,
  parsePositiveAmount,
  type OrderLimitsForm,
} from '../views/order-limits-form-and-amount-format.ts';
import type { FieldError } from '../views/page-layout-and-form-fields.ts';

type ParsedForm = {
  readonly faults: readonly FieldError[];
  /** The limits, or undefined if the user set none. */
  readonly limits: EffectiveOrderLimits | undefined;
  readonly timeZone: string;
};

type FormContext = {
  /** Limits that the user can lower but not raise, because the application requested them or an administrator set them. */
  readonly maximum: EffectiveOrderLimits | undefined;
  /**
   * Limits that administrators set. The user can leave the fields for these limits empty. Present only on the page where the user changes
   * the limits of a connected application.
   */
  readonly ceiling?: OrderSpendingLimits | undefined;
  /** Categories that administrators permit; present only on the page where the user changes the limits of a connected application. */
  readonly ceilingCategories?: readonly string[] | undefined;
  /** Current limits, which the user is changing on the account page. Limits that the page does not show stay unchanged. */
  readonly current?: EffectiveOrderLimits | undefined;
  /** Whether the user can let the application access all orders; if false, the form offers no choice. */
  readonly canAllowAllOrders: boolean;
  readonly currencies: readonly string[];
  readonly messages: Messages;
  readonly now: Date;
};

/** Converts a submitted form to limits. Returns an error for every field that is invalid or exceeds the maximum. */
export function parseOrderLimitsForm(form: OrderLimitsForm, context: FormContext): ParsedForm {
  const { maximum, ceiling, messages } = context;
  const { orderLimits: texts } = messages;
  const faults: FieldError[] = [];
  const timeZone = getKnownTimeZoneOrUtc(form.time_zone);
  const currency = maximum?.limits?.currency ?? ceiling?.currency ?? form.limit_currency;
  const readAmount = (field: 'limit_per_order' | 'limit_per_period', key: 'per_order' | 'per_period'): number | undefined => {
    const amount = form[field] === '' ? undefined : parsePositiveAmount(form[field], currency);
    if (form[field] !== '' && amount === undefined)
      faults.push({ field, text: texts.amountInvalid({ example: formatAmountWithoutCurrency(messages, 2000, currency) }) });
    else if (isAbove(amount ?? Infinity, maximum?.limits?.[key]) || isAbove(amount ?? 0, ceiling?.[key])) {
      const highest = Math.min(maximum?.limits?.[key] ?? Infinity, ceiling?.[key] ?? Infinity);
      faults.push({ field, text: texts.tooHigh({ amount: formatMoney({ messages }, highest, currency) }) });
    }
    return amount;
  };
  const perOrder = readAmount('limit_per_order', 'per_order');
  const perPeriod = readAmount('limit_per_period', 'per_period');
  const hasAmount = perOrder !== undefined || perPeriod !== undefined;
  if (hasAmount && maximum?.limits === undefined && ceiling === undefined && !context.currencies.includes(currency)) {
    faults.push({ field: 'limit_currency', text: texts.currencyInvalid });
  }
  const validUntil = readLastDay(form, timeZone, context, faults);
  const actions = readActions(form, context, faults);
  const categories = readCategories(form, context, faults);
  const orders = context.canAllowAllOrders ? (form.limit_orders ?? maximum?.orders ?? context.current?.orders ?? 'all') : 'own';
  const approval = readApprovalMode(form, context);
  const limits: EffectiveOrderLimits = {
    actions,
    orders,
    approval,
    ...(hasAmount && {
      limits: {
        currency,
        ...(perOrder !== undefined && { per_order: perOrder }),
        ...(perPeriod !== undefined && { per_period: perPeriod, period: maximum?.limits?.period ?? ceiling?.period ?? form.limit_period }),
      },
    }),
    ...(categories && { products: { categories } }),
    ...(validUntil !== undefined && { valid_until: validUntil.toISOString() }),
  };
  const isLimited =
    maximum !== undefined ||
    hasAmount ||
    validUntil !== undefined ||
    categories !== undefined ||
    actions.length < orderActionsInAuthorizationDetails.length ||
    orders === 'own' ||
    approval !== 'above_limit';
  if (faults.length > 0 || !isLimited) return { faults, limits: undefined, timeZone };
  return { faults, limits: parsedOrderLimitsFormSchema.parse(limits), timeZone };
}

/**
 * Returns the product categories from which the application can order, or undefined for all products. If the application requested
 * categories or administrators restrict them, the user can select only among these categories.
 */
function readCategories(
  { limit_category: selected = [] }: OrderLimitsForm,
  { maximum, ceilingCategories, messages }: FormContext,
  faults: FieldError[],
): string[] | undefined {
  const requested = maximum?.products?.categories;
  const permitted = requested ?? ceilingCategories;
  const chosen = [...new Set(selected)].filter((category) => permitted?.includes(category) ?? true);
  const isValid = chosen.length === 0 ? !requested : parsedOrderLimitsFormSchema.shape.products.safeParse({ categories: chosen }).success;
  if (!isValid) {
    const maximumCount = Math.min(permitted?.length ?? maxLimitedCategories, maxLimitedCategories);
    faults.push({ field: 'limit_category', text: messages.orderLimits.categoryCount({ maximum: String(maximumCount) }) });
  }
  return chosen.length === 0 ? undefined : chosen;
}

const isAbove = (amount: number, maximum: number | undefined): boolean => maximum !== undefined && amount > maximum;

/** Returns which orders need the user's approval. If the application requested `always` or `never`, the user cannot change this. */
function readApprovalMode({ limit_approval: chosen }: OrderLimitsForm, { maximum, current }: FormContext): OrderApprovalMode {
  const asked = maximum?.approval ?? 'above_limit';
  return asked === 'above_limit' ? (chosen ?? current?.approval ?? 'above_limit') : asked;
}

function readActions(form: OrderLimitsForm, { maximum, messages }: FormContext, faults: FieldError[]): OrderAction[] {
  const offered = maximum?.actions ?? orderActionsInAuthorizationDetails;
  const actions = offered.filter((action) => form.limit_action?.includes(action));
  if (actions.length === 0) faults.push({ field: `limit_action_${offered[0] ?? ''}`, text: messages.orderLimits.actionMissing });
  return actions;
}

function readLastDay(
  form: OrderLimitsForm,
  timeZone: string,
  { maximum, current, messages, now }: FormContext,
  faults: FieldError[],
): Date | undefined {
  const day = form.limit_until;
  const latest = maximum?.valid_until;
  const shown = latest ?? current?.valid_until;
  if (shown !== undefined && day === shown.slice(0, 10)) return new Date(shown);
  if (day === '' && latest === undefined) return undefined;
  const addFault = (fault: string): undefined => void faults.push({ field: 'limit_until', text: fault });
  if (latest !== undefined && (day === '' || day > latest.slice(0, 10))) {
    return addFault(messages.orderLimits.tooLate({ day: formatUtcDay(messages, latest) }));
  }
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(Date.parse(day))) return addFault(messages.orderLimits.dateInvalid);
  const end = getEndOfDayInTimeZone(day, timeZone);
  if (end <= now) return addFault(messages.orderLimits.dateInvalid);
  return latest !== undefined && end > new Date(latest) ? new Date(latest) : end;
}
