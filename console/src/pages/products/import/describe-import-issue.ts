import type { ProductsTranslate } from '../use-products-translations.ts';
import type { ImportIssue } from './run-product-import.ts';

/** Beginnings of the server's English texts about a limit, and the keys of their translations. */
const limitKeys = [
  [/^String must contain at least (\d+) character/, 'problem.minLength'],
  [/^String must contain at most (\d+) character/, 'problem.maxLength'],
  [/^Number must be greater than or equal to (-?\d+)$/, 'problem.minimum'],
  [/^Number must be less than or equal to (-?\d+)$/, 'problem.maximum'],
] as const;

/** Keys of the messages for fields that must have a certain format. */
const formatKeys = { sku: 'problem.sku', category: 'problem.category', currency: 'problem.currency' } as const;

/**
 * Describes an issue in the user's language. A text that has no translation is returned unchanged.
 * @param hasDecimalAmounts whether the file contains prices such as `4.50`, not prices in minor units
 */
export function describeImportIssue({ field, detail }: ImportIssue, hasDecimalAmounts: boolean, t: ProductsTranslate): string {
  if (detail === 'Required') return t('problem.required');
  const isDecimalPrice = field === 'price' && hasDecimalAmounts;
  if (/^Expected (number|integer), received /.test(detail)) return t(isDecimalPrice ? 'problem.amount' : 'problem.integer');
  for (const [pattern, key] of limitKeys) {
    const limit = pattern.exec(detail)?.[1];
    if (limit === undefined) continue;
    // The limits of a price are in minor units, which the file does not contain.
    if (isDecimalPrice) return t(key === 'problem.maximum' ? 'problem.maximumPrice' : 'problem.amount');
    return t(key, { limit: Number(limit) });
  }
  const options = /^Invalid enum value. Expected (.+), received /.exec(detail)?.[1];
  if (options !== undefined) return t('problem.options', { options: options.replaceAll("'", '').replaceAll(' | ', ', ') });
  const currency = /^The currency is ([A-Z]{3}) and cannot be changed/.exec(detail)?.[1];
  if (currency !== undefined) return t('problem.currencyChanged', { currency });
  const formatKey = Object.entries(formatKeys).find(([name]) => name === field)?.[1];
  return formatKey !== undefined && detail.startsWith('must be ') ? t(formatKey) : detail;
}
