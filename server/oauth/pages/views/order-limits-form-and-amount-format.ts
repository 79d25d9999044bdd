import {
  budgetPeriods,
  currencyExponent,
  formatDecimalAmount,
  orderAccessLevels,
  orderActionsInAuthorizationDetails,
  orderApprovalModes,
  type EffectiveOrderLimits,
  type OrderProductLimits,
} from '@mandate/contract';
import { z } from 'zod';
import type { Messages } from '../../../languages/languages.ts';
import { formatMoney } from './format-time-and-money.ts';

const text = z.string().trim().max(100).default('').catch('');

/** Fields of an order limits form. */
export const orderLimitsFormSchema = z.object({
  limit_currency: text,
  limit_per_order: text,
  limit_per_period: text,
  limit_period: z.enum(budgetPeriods).catch('month'),
  limit_until: text,
  limit_action: z
    .union([z.string().transform((action) => [action]), z.array(z.string())])
    .transform((actions) => orderActionsInAuthorizationDetails.filter((action) => actions.includes(action)))
    .optional()
    .catch([]),
  limit_category: z
    .union([z.string().transform((category) => [category]), z.array(z.string())])
    .optional()
    .catch(undefined),
  limit_orders: z.enum(orderAccessLevels).optional().catch(undefined),
  limit_approval: z.enum(orderApprovalModes).optional().catch(undefined),
  /** The browser's time zone, set by the page script. */
  time_zone: z.string().optional().catch(undefined),
});
export type OrderLimitsForm = z.output<typeof orderLimitsFormSchema>;

/** Returns the form fields for these limits, with the amounts in the format of the page's language. */
export const orderLimitsFormFromLimits = (messages: Messages, input: EffectiveOrderLimits | undefined): OrderLimitsForm => {
  const { limits, products, actions, valid_until: validUntil, orders = 'all', approval = 'above_limit' } = input ?? {};
  const amount = (value: number | undefined): string =>
    value === undefined ? '' : formatAmountWithoutCurrency(messages, value, limits?.currency ?? '');
  return {
    limit_currency: limits?.currency ?? '',
    limit_per_order: amount(limits?.per_order),
    limit_per_period: amount(limits?.per_period),
    limit_period: limits?.period ?? 'month',
    limit_until: validUntil?.slice(0, 10) ?? '',
    limit_action: [...(actions ?? orderActionsInAuthorizationDetails)],
    limit_category: [...(products?.categories ?? [])],
    limit_orders: orders,
    limit_approval: approval,
    time_zone: undefined,
  };
};

/**
 * Formats an amount as the user types it in the language of the page, such as `20.00`. The result has Western digits and no thousands separators, as
 * required by `parsePositiveAmount`.
 */
export function formatAmountWithoutCurrency({ language }: Messages, amount: number, currency: string): string {
  const parts = new Intl.NumberFormat(language.tag, { numberingSystem: 'latn' }).formatToParts(0.5);
  const separator = parts.find(({ type }) => type === 'decimal')?.value ?? '.';
  return formatDecimalAmount(amount, currency).replace('.', separator);
}

/** Converts a positive decimal amount, with a point or a comma, to minor units. */
export function parsePositiveAmount(value: string, currency: string): number | undefined {
  const [, whole, fraction = ''] = /^(\d{1,15})(?:[.,](\d{1,4}))?$/.exec(value) ?? [];
  const digits = currencyExponent(currency);
  if (whole === undefined || fraction.length > digits) return undefined;
  const amount = Number(whole + fraction.padEnd(digits, '0'));
  return Number.isSafeInteger(amount) && amount > 0 ? amount : undefined;
}

export const formatUtcDay = ({ language }: Messages, at: string): string =>
  new Intl.DateTimeFormat(language.tag, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(at));

/** Describes the amounts and the end date of limits as a list, or returns undefined if there are none. */
export function describeLimitAmountsAndEndDate(
  messages: Messages,
  { limits, valid_until: until }: Pick<EffectiveOrderLimits, 'limits' | 'valid_until'>,
): string | undefined {
  const { orderLimits: texts, language } = messages;
  const money = (amount: number): string => formatMoney({ messages }, amount, limits?.currency ?? '');
  const parts = [
    limits?.per_order !== undefined && texts.perOrderText({ amount: money(limits.per_order) }),
    limits?.per_period !== undefined && texts.perPeriodText({ amount: money(limits.per_period), period: limits.period ?? 'month' }),
    until !== undefined && texts.untilText({ when: formatUtcDay(messages, until) }),
  ].filter((part) => part !== false);
  return parts.length === 0 ? undefined : new Intl.ListFormat(language.tag).format(parts);
}

/** Formats product categories as a list that can be part of a sentence. */
export const formatCategories = ({ language }: Messages, categories: readonly string[]): string =>
  new Intl.ListFormat(language.tag).format(categories);

/** Describes in one line which products can be ordered. */
export const describeOrderableProductCategories = (messages: Messages, { categories }: OrderProductLimits): string =>
  categories.length === 0
    ? messages.orderLimits.noCategories
    : messages.orderLimits.categoriesText({ categories: formatCategories(messages, categories) });
