import { dateOf, formatAddressLines, formatDate, formatMoney, type Delivery } from '@mandate/client-sdk';
import { useMemo } from 'react';
import { useLanguage } from './use-translations.tsx';

export type Format = ReturnType<typeof createFormat>;

/** Returns functions that format amounts, numbers and timestamps in the user's language. */
export function useFormat(): Format {
  const language = useLanguage();
  return useMemo(() => createFormat(language), [language]);
}

const relativeUnits = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const byteUnits = [
  ['gigabyte', 1e9],
  ['megabyte', 1e6],
  ['kilobyte', 1e3],
  ['byte', 1],
] as const;

/** Replaces the hyphen, which is narrower than the plus sign, by a minus sign. */
const withMinusSign = (number: string): string => number.replace('-', '−');

const createFormat = (locale: string) => ({
  /** Formats an amount in minor units. */
  money: (amount: number, currency: string): string => formatMoney(amount, currency, locale),
  number: (value: number): string => new Intl.NumberFormat(locale).format(value),
  /** Formats the change in a number, with a plus or minus sign. */
  signed: (value: number): string => withMinusSign(new Intl.NumberFormat(locale, { signDisplay: 'exceptZero' }).format(value)),
  /** Formats a ratio such as 0.175 as a percentage. */
  percent: (ratio: number): string => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }).format(ratio),
  /** Formats a ratio such as 0.125 as a percentage, with a plus or minus sign. */
  change: (ratio: number): string =>
    withMinusSign(new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' }).format(ratio)),
  /** Formats a size in bytes, such as `2.4 MB`. */
  bytes: (count: number): string => {
    const [unit, size] = byteUnits.find(([, unitSize]) => count >= unitSize) ?? ['byte', 1];
    return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }).format(count / size);
  },
  date: (timestamp: string): string => formatDate(timestamp, { locale }),
  /** Formats a date such as `2026-01-31`, or a timestamp, as a day and month. */
  day: (timestamp: string): string => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' }).format(dateOf(timestamp)),
  month: (timestamp: string): string => new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric' }).format(dateOf(timestamp)),
  dateTime: (timestamp: string): string => formatDate(timestamp, { locale, timeStyle: 'short' }),
  addressLines: (delivery: Delivery): string[] => formatAddressLines(delivery, locale),
  /** Formats a past timestamp relative to now, such as `3 hours ago`, or as a date if it is older than a week. */
  relative: (timestamp: string): string => {
    const seconds = (dateOf(timestamp).getTime() - Date.now()) / 1000;
    if (Math.abs(seconds) > 7 * 86_400) return formatDate(timestamp, { locale });
    const [unit, length] = relativeUnits.find(([, unitLength]) => Math.abs(seconds) >= unitLength) ?? ['minute', 60];
    return new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }).format(Math.trunc(seconds / length), unit);
  },
});
