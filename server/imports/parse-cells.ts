import { currencyExponent } from '@mandate/contract';
import type { ZodError, ZodType, ZodTypeDef } from 'zod';

/** What is wrong with a row: which field, and why. */
export type Mistake = { readonly field?: string; readonly code: string; readonly detail: string };

/** Text that cannot be the value it should be; the check that follows says so. */
export type Cell = string | number | undefined;

/** A whole number in plain digits. */
export const integer = (text: string | undefined): Cell =>
  text !== undefined && /^(?:0|-?[1-9]\d{0,15})$/.test(text) ? Number(text) : text;

/** An amount of money in minor units, exactly, however the file writes it. */
export function amount(text: string | undefined, unit: 'minor' | 'decimal', currency: string | undefined): Cell {
  if (text === undefined || unit === 'minor') return integer(text);
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d{1,15})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  const exponent = currencyExponent(currency ?? '');
  // 2.550 are 255 cents; 2.555 are none
  if (whole === '' || /[1-9]/.test(fraction.slice(exponent))) return text;
  return Number(`${sign}${whole}${fraction.slice(0, exponent).padEnd(exponent, '0')}`);
}

/** The row as the schema has it, or everything that is wrong with it. */
export function checked<Row>(schema: ZodType<Row, ZodTypeDef, unknown>, value: unknown): { data: Row } | { mistakes: Mistake[] } {
  const result = schema.safeParse(value);
  return result.success ? { data: result.data } : { mistakes: mistakesOf(result.error) };
}

const mistakesOf = ({ issues }: ZodError): Mistake[] =>
  issues.map(({ path, message, code, ...issue }) => ({
    field: path.join('.'),
    code: code === 'invalid_type' && 'received' in issue && issue.received === 'undefined' ? 'required' : 'invalid_value',
    detail: message,
  }));
