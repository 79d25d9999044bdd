import { extendApi } from '@anatine/zod-openapi';
import { z, type ZodTypeAny } from 'zod';
import { withSchemaName } from './openapi-schema-name.ts';
import { lengthLimitedTextSchema } from './text-timestamp-and-metadata-schemas.ts';
import { integerInUrlSchema } from './ids.ts';

/** Maximum count for `include_total`. An exact count of millions of rows would be slow, and is rarely useful. */
export const maxCountedTotal = 10_000;

/** Query parameters common to all paginated lists. */
export const paginationParameters = {
  limit: integerInUrlSchema(1, 100).default('20').describe('Maximum number of items on the page.'),
  cursor: lengthLimitedTextSchema(4096, 1)
    .optional()
    .describe(
      '`next_cursor` of the previous page. The value is opaque. A cursor is valid only for the same caller, filters and sort order.',
    ),
  include_total: z
    .enum(['true', 'false'])
    .optional()
    .describe(`\`true\` adds \`total_count\` to the response; counting stops at ${maxCountedTotal}.`),
};

/** Query parameters for a list that originally had no pagination. The default limit is high enough to return the whole list. */
export const paginationParametersWithDefaultLimit100 = {
  limit: integerInUrlSchema(1, 100).default('100').describe('Maximum number of items on the page.'),
  cursor: paginationParameters.cursor,
};

/** Comma-separated values of an enumeration in one query parameter. An item matches if it has any of these values. */
export const commaSeparatedEnumSchema = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  extendApi(
    z
      .string()
      .transform((list) => list.split(','))
      .pipe(z.array(z.enum(values)).min(1).max(20)),
    { type: 'array', items: { type: 'string', enum: [...values] }, minItems: 1, maxItems: 20 },
  );

/** Response schema for a list. */
export const listPageSchema = <Item extends ZodTypeAny>(name: string, item: Item) =>
  withSchemaName(
    name,
    z.object({
      data: z.array(item).max(100),
      has_more: z.boolean().describe('Whether there is a next page.'),
      next_cursor: z.string().nullable().describe('Pass this value as `cursor` to get the next page; `null` on the last page.'),
      total_count: z
        .number()
        .int()
        .min(0)
        .max(maxCountedTotal)
        .optional()
        .describe('Number of matching items; returned only with `include_total=true`.'),
      total_count_capped: z
        .boolean()
        .optional()
        .describe(`\`true\` if more than ${maxCountedTotal} items match, in which case \`total_count\` is not exact.`),
    }),
  );
