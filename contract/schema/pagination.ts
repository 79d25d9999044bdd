import { extendApi } from '@anatine/zod-openapi';
import { z, type ZodTypeAny } from 'zod';
import { component } from './named-schema.ts';
import { urlInteger } from './ids.ts';

/** Where counting for `include_total` stops: an exact count of millions of rows costs more than it tells. */
export const totalCountMax = 10_000;

/** Query parameters that every list has. */
export const pageQuery = {
  limit: urlInteger(1, 100).default('20').describe('How many items the page may have.'),
  cursor: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('`next_cursor` of the page before. Opaque; it belongs to the same filters, sort and caller.'),
  include_total: z.enum(['true', 'false']).optional().describe(`\`true\` adds \`total_count\`, counted up to ${totalCountMax}.`),
};

/** The same for a list that came on one page before it had these parameters. */
export const completePageQuery = {
  limit: urlInteger(1, 100).default('100').describe('How many items the page may have.'),
  cursor: pageQuery.cursor,
};

/** Several values of an enumeration in one parameter, separated by commas: any of them matches. */
export const commaList = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  extendApi(
    z
      .string()
      .transform((list) => list.split(','))
      .pipe(z.array(z.enum(values)).min(1).max(20)),
    { type: 'array', items: { type: 'string', enum: [...values] }, minItems: 1, maxItems: 20 },
  );

/** The envelope of every list. */
export const page = <Item extends ZodTypeAny>(name: string, item: Item) =>
  component(
    name,
    z.object({
      data: z.array(item).max(100),
      has_more: z.boolean().describe('Whether another page follows.'),
      next_cursor: z.string().nullable().describe('Pass it as `cursor` to get the next page; `null` on the last.'),
      total_count: z.number().int().min(0).max(totalCountMax).optional().describe('How many items match, only with `include_total=true`.'),
      total_count_capped: z
        .boolean()
        .optional()
        .describe(`\`true\` when more than ${totalCountMax} items match and counting stopped there.`),
    }),
  );
