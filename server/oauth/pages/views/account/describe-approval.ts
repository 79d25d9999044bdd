import type { ApprovalWithQuote } from '../../../../approvals/approval-from-entity.ts';
import { formatMoney } from '../format-time-and-money.ts';
import { formatCategories } from '../order-limits-form-and-amount-format.ts';
import type { PageSettings } from '../page-layout-and-form-fields.ts';

/** Returns a sentence that explains why the customer's approval is requested. */
export function describeApprovalReason(
  settings: PageSettings,
  { approval: { reason }, applicationName: application }: ApprovalWithQuote,
): string {
  const texts = settings.messages.approvals.reason;
  if (!reason) return texts.none({ application });
  const { code, currency, limit, spent, period, categories } = reason;
  const money = (amount: number | null): string => formatMoney(settings, amount ?? 0, currency ?? 'XXX');
  if (code === 'every_order') return texts.everyOrder({ application });
  if (code === 'categories') {
    return texts.categories({ application, categories: formatCategories(settings.messages, categories ?? []) });
  }
  if (code === 'currency') return texts.currency({ application, currency: currency ?? '' });
  if (code === 'per_order') return texts.perOrder({ application, limit: money(limit) });
  return texts.perPeriod({ application, limit: money(limit), spent: money(spent), period: period ?? 'month' });
}

/** Describes the lines of the quote, followed by its other amounts and its total. */
export function describeQuotedLinesAndTotals(settings: PageSettings, { quote }: ApprovalWithQuote): string[] {
  const { approvals: texts } = settings.messages;
  const money = (amount: number): string => formatMoney(settings, amount, quote.currency);
  return [
    ...quote.items.map(({ quantity, name, total }) => texts.line({ quantity: String(quantity), name, amount: money(total) })),
    ...(quote.discountTotal > 0 ? [texts.discount({ amount: money(-quote.discountTotal) })] : []),
    texts.delivery({ amount: money(quote.shippingTotal) }),
    ...(quote.taxMode === 'exclusive' ? [texts.tax({ amount: money(quote.taxTotal) })] : []),
    texts.total({ amount: money(quote.total) }),
  ];
}
