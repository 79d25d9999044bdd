import { extendApi } from '@anatine/zod-openapi';
import { z } from 'zod';
import { findHiddenCharacterCodePoint } from './hidden-characters.ts';
import { createValidationIssueWithValues } from './validation-issue-with-values.ts';

// C0, DEL and C1. Names and addresses must not contain control characters, because terminals and log viewers would interpret them.
const controlCharacter = /\p{Cc}/u;
// Multi-line text may contain line breaks and tabs.
const controlCharacterBesidesLines = /[^\P{Cc}\t\n\r]/u;
const wellFormed = (value: string): boolean => value.isWellFormed();

/**
 * Text of `minimum` to `maximum` characters. Characters are Unicode code points, as in JSON Schema and PostgreSQL; zod would count UTF-16
 * code units, and an emoji consists of two or more code units.
 */
export const lengthLimitedTextSchema = (maximum: number, minimum = 0) =>
  extendApi(z.string(), describeLength(minimum, maximum)).superRefine(checkLength(minimum, maximum));

const describeLength = (minimum: number, maximum: number) => ({ ...(minimum > 0 && { minLength: minimum }), maxLength: maximum });

const checkLength = (minimum: number, maximum: number) => (value: string, context: z.RefinementCtx) => {
  const length = value.length > maximum || value.length < 2 * minimum ? Array.from(value).length : value.length;
  const issue = { type: 'string', inclusive: true } as const;
  if (length < minimum) context.addIssue({ ...issue, code: 'too_small', minimum });
  if (length > maximum) context.addIssue({ ...issue, code: 'too_big', maximum });
};

/**
 * One trimmed line of text from a caller, with `minimum` to `maximum` characters. This schema is used for every name that other users see.
 * The text must not contain control characters, bidirectional controls or invisible characters, unless the spelling of a language or an
 * emoji requires them.
 */
export const singleLineInputSchema = (maximum: number, minimum = 1) =>
  // Leading and trailing white space is removed, so a required text must contain at least one other character.
  extendApi(z.string().trim(), { ...describeLength(minimum, maximum), ...(minimum > 0 && { pattern: String.raw`\S` }) })
    .superRefine(checkLength(minimum, maximum))
    .superRefine(rejectHiddenCharacters);

/**
 * Refinement of a text in a request. PostgreSQL cannot store two of the rejected characters: U+0000 in any text, and unpaired surrogates in
 * JSON.
 */
export function rejectHiddenCharacters(value: string, context: z.RefinementCtx): void {
  const hidden = findHiddenCharacterCodePoint(value);
  if (hidden !== undefined) context.addIssue(createValidationIssueWithValues(hiddenCharacterText, { character: hidden }));
}
const hiddenCharacterText = 'must not contain {character}, a character that is invisible or changes the text direction';

/** Returns the reason why `singleLineInputSchema` rejected the characters of a text; `undefined` if only the length is invalid. */
export const forbiddenCharacterMessageFromError = ({ issues }: z.ZodError): string | undefined =>
  issues.find(({ code }) => code === 'custom')?.message;

/** One line of text in a response. The characters are not checked, so that values stored under earlier rules remain readable. */
export const singleLineResponseSchema = (maximum: number, minimum = 1) => lengthLimitedTextSchema(maximum, minimum);

/** A name from another system, stored unchanged, including spaces. */
export const nameFromOtherSystemSchema = (maximum: number) =>
  lengthLimitedTextSchema(maximum, 1).refine((value) => !controlCharacter.test(value) && wellFormed(value), {
    message: 'must not contain control characters',
  });

/** Text that may have several lines, up to `maximum` characters. */
export const multilineTextSchema = (maximum: number) =>
  lengthLimitedTextSchema(maximum).refine((value) => !controlCharacterBesidesLines.test(value) && wellFormed(value), {
    message: 'must not contain control characters except line breaks and tabs',
  });

/** A timestamp in a response: RFC 3339 in UTC with milliseconds. */
export const timestampSchema = z.string().datetime();

/**
 * Earliest and latest timestamp that a PostgreSQL `timestamptz` and the four-digit year of RFC 3339 can both represent, as epoch
 * milliseconds.
 */
const timestampRange = { minimum: Date.parse('0001-01-01T00:00:00.000Z'), maximum: Date.parse('9999-12-31T23:59:59.999Z') } as const;
const timestampFormatText = 'must be an RFC 3339 timestamp such as 2026-01-31T12:00:00Z, with at most 9 decimal places';
const timestampRangeText = 'must be between 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z after conversion to UTC';

/**
 * A timestamp sent by a caller: RFC 3339 with any offset, at most 9 decimal places, converted to UTC.
 * Every timestamp in a query, a body or an imported file is validated with this schema, so that the database can store the timestamp.
 */
export const timestampInputSchema = z
  .string()
  .datetime({ offset: true, message: timestampFormatText })
  .transform((value, context) => {
    const epochMs = Date.parse(value);
    const decimals = /\.(\d+)/.exec(value)?.[1] ?? '';
    // `Date.parse()` ignores decimal places after the third, but the database does not, so the range check must include these decimal
    // places.
    const isAfterMaximum = epochMs === timestampRange.maximum && /[1-9]/.test(decimals.slice(3));
    if (Number.isNaN(epochMs) || decimals.length > 9) return refuse(context, timestampFormatText);
    if (epochMs < timestampRange.minimum || epochMs > timestampRange.maximum || isAfterMaximum) return refuse(context, timestampRangeText);
    return `${new Date(epochMs).toISOString().slice(0, 19)}.${decimals.padEnd(3, '0')}Z`;
  });

function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** Maximum number of metadata pairs per resource. */
export const maxMetadataPairs = 20;

/** The caller's key-value pairs. The service stores and returns these pairs without interpreting them. */
export const metadataSchema = z
  .record(nameFromOtherSystemSchema(40), multilineTextSchema(500))
  .refine((pairs) => Object.keys(pairs).length <= maxMetadataPairs, { message: `must have at most ${maxMetadataPairs} key-value pairs` });

/** An update of metadata as a JSON merge patch (RFC 7396): absent keys keep their values, and `null` removes a key. */
export const metadataPatchSchema = z
  .record(nameFromOtherSystemSchema(40), multilineTextSchema(500).nullable())
  .describe(
    `Merged into the stored metadata: absent keys keep their values, and \`null\` removes a key. After the merge, the metadata can have at most ${maxMetadataPairs} key-value pairs.`,
  );
