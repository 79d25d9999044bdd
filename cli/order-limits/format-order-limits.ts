import { formatMoney, type Authorization } from '@mandate/client-sdk';

type Details = Authorization['authorization_details'][number];

/** Returns limits in one line, such as `£50.00 per order, £200.00 per month, until 2027-01-31T23:59:59.999Z, own orders`. */
export function formatOrderLimits({ actions, limits, products, valid_until: validUntil, orders }: Details): string {
  const money = (amount: number): string => formatMoney(amount, limits?.currency ?? '');
  const parts = [
    limits?.per_order !== undefined && `${money(limits.per_order)} per order`,
    limits?.per_period !== undefined && `${money(limits.per_period)} per ${limits.period}`,
    products !== undefined && `categories ${products.categories.join(' and ') || 'none'}`,
    validUntil !== undefined && `until ${validUntil}`,
    actions.length < 3 && `actions ${actions.join(' and ')}`,
    orders === 'own' && 'own orders',
  ];
  return parts.filter((part) => part !== false).join(', ') || 'none';
}

/** Returns a budget in one line, such as `£155.00 of £200.00 remain until 2027-02-01T00:00:00.000Z`. */
export const formatRemainingBudget = ({ currency, limit, remaining, ends_at: endsAt }: NonNullable<Authorization['budget']>): string =>
  `${formatMoney(remaining, currency)} of ${formatMoney(limit, currency)} remain until ${endsAt}`;
