import { currencyExponent, formatMoney } from '@mandate/client-sdk';
import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCommonTranslations, useLanguage } from '../../languages/use-translations.tsx';

type Props = {
  readonly label: string;
  readonly description?: string;
  readonly currency: string;
  readonly isRequired?: boolean;
  /** Text that the user has entered. */
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** API error for this field. */
  readonly error?: string | undefined;
};

/** Field for an amount in major units, such as pounds. Convert the text with `parseAmountToMinorUnits`. */
export function AmountInput({ label, description, currency, isRequired = false, value, onChange, error }: Props): ReactNode {
  const t = useCommonTranslations();
  const language = useLanguage();
  const isInvalid = value !== '' && parseAmountToMinorUnits(value, currency) === undefined;
  return (
    <TextInput
      label={label}
      description={description}
      required={isRequired}
      inputMode="decimal"
      autoComplete="off"
      rightSection={currency}
      rightSectionWidth={52}
      value={value}
      error={isInvalid ? t('form.amountInvalid', { example: formatMoney(1250, currency, language) }) : error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/**
 * Converts a decimal number with a point or comma, such as `12.50`, to minor units. Returns `undefined` if the text is not such a number.
 */
export function parseAmountToMinorUnits(text: string, currency: string): number | undefined {
  const digits = currencyExponent(currency);
  const [, whole, fraction = ''] = /^\s*(\d{1,12})(?:[.,](\d+))?\s*$/.exec(text) ?? [];
  if (whole === undefined || fraction.length > digits) return undefined;
  return Number(whole + fraction.padEnd(digits, '0'));
}

/** Converts minor units to a decimal number such as `12.50`. */
export function formatAmountForInput(amount: number, currency: string): string {
  const digits = currencyExponent(currency);
  const text = String(amount).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
