import { z } from 'zod';
import { createValidationIssueWithValues } from '../schema/validation-issue-with-values.ts';
import { withSchemaName } from '../schema/openapi-schema-name.ts';
import { singleLineInputSchema } from '../schema/text-timestamp-and-metadata-schemas.ts';

/** Maximum number of product categories in limits. */
export const maxLimitedCategories = 50;

const categoriesText =
  "Categories of the products that can be ordered. An order that contains a product in another category is rejected. The product's current category applies.";

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

/** Products that orders are limited to, in a request. */
export const orderProductLimitsInputSchema = withSchemaName('OrderProductLimitsInput', inputSchema);

/** Products that orders are limited to. The list is empty if the limits of the customer and of the shop have no category in common. */
export const orderProductLimitsSchema = withSchemaName('OrderProductLimits', responseSchema);

/** Products that an administrator limits orders to; null for all products. */
export const nullableProductLimitsInputSchema = inputSchema.nullable();
export const nullableProductLimitsSchema = responseSchema.nullable();

export type OrderProductLimits = z.output<typeof orderProductLimitsSchema>;
