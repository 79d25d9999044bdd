import { z } from 'zod';
import { createValidationIssueWithValues } from '../schema/validation-issue-with-values.ts';
import { withSchemaName } from '../schema/openapi-schema-name.ts';
import { singleLineInputSchema } from '../schema/text-timestamp-and-metadata-schemas.ts';

/** Maximum number of product categories that limits can contain. */
export const maxLimitedCategories = 50;

const categoriesText =
  "Categories of the products that can be ordered. An order that contains a product in any other category is rejected. The product's current category applies.";

const inputSchema = z
  .object({
    categories: z
      .array(singleLineInputSchema(64))
      .min(1)
      .max(maxLimitedCategories)
      .superRefine((categories, context) => {
        const repeated = categories.find((category, index) => categories.indexOf(category) !== index);
        if (repeated !== undefined)
          context.addIssue(createValidationIssueWithValues('must not contain {category} twice', { category: repeated }));
      })
      .describe(categoriesText),
  })
  .strict();
const responseSchema = z.object({ categories: z.array(z.string()).describe(categoriesText) });

/** Request schema for the products to which orders are limited. */
export const orderProductLimitsInputSchema = withSchemaName('OrderProductLimitsInput', inputSchema);

/**
 * Response schema for the products to which orders are limited. The list is empty if the customer's limits and the shop's limits have no
 * category in common.
 */
export const orderProductLimitsSchema = withSchemaName('OrderProductLimits', responseSchema);

/** Request schema for the products to which an administrator limits orders; `null` means all products. */
export const nullableProductLimitsInputSchema = inputSchema.nullable();
export const nullableProductLimitsSchema = responseSchema.nullable();

export type OrderProductLimits = z.output<typeof orderProductLimitsSchema>;
