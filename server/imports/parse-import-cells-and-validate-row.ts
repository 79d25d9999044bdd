import { currencyExponent } from '@mandate/contract';
import type { ZodError, ZodType, ZodTypeDef } from 'zod';

/** An error in a row: the field and the reason. */
export type RowError = { readonly field?: string; readonly code: string; readonly detail: string };

/** A parsed cell. Text that cannot be parsed is left unchanged, so validation rejects it. */
export type ParsedCell = string | number | undefined;

/** Parses an integer written in plain digits. */
export const parseIntegerCell = (text: string | undefined): ParsedCell =>
  text !== undefined && /^(?:0|-?[1-9]\d{0,15})$/.test(text) ? Number(text) : text;

/** Parses a monetary amount and returns its exact value in minor units. */
export function parseAmountCell(text: string | undefined, unit: 'minor' | 'decimal', currency: string | undefined): ParsedCell {
  if (text === undefined || unit === 'minor') return parseIntegerCell(text);
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d{1,15})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  const exponent = currencyExponent(currency ?? '');
  // 2.550 equals 255 cents; 2.555 is not a whole number of cents
  if (whole === '' || /[1-9]/.test(fraction.slice(exponent))) return text;
  return Number(`${sign}${whole}${fraction.slice(0, exponent).padEnd(exponent, '0')}`);
}

/**
 * Converts a date, or a time without an offset or with an offset such as `+0200` (Shopify) or `+02` (PostgreSQL), to an RFC 3339 timestamp.
 * Any other text is returned unchanged and fails validation.
 */
export function parseTimestampCell(text: string | undefined, utcOffset: string): string | undefined {
  const [, date, time = '00:00', offset = utcOffset] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/.exec(text ?? '') ?? [];
  return date === undefined
    ? text
    : `${date}T${time}${offset.replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`)}`;
}

/** Validates a row with a schema, and returns the parsed row or all errors. */
export function validateImportRow<Row>(schema: ZodType<Row, ZodTypeDef, unknown>, value: unknown): { data: Row } | { errors: RowError[] } {
  const result = schema.safeParse(value);
  return result.success ? { data: result.data } : { errors: toRowErrors(result.error) };
}

function toRowErrors({ issues }: ZodError): RowError[] {
  const errors = issues.map(({ path, message, code, ...issue }) => ({
    field: path.join('.'),
    code: code === 'invalid_type' && 'received' in issue && issue.received === 'undefined' ? 'required' : 'invalid_value',
    detail: message,
  }));
  // Several rules for one field can produce the same message.
  return errors.filter(({ field, detail }, at) => at === errors.findIndex((each) => each.field === field && each.detail === detail));
}
