import { z } from 'zod';
import { idSchema } from '../../schema/ids.ts';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { multilineTextSchema, lengthLimitedTextSchema, timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

/** Maximum stock of a product, and maximum size of a stock adjustment, in units. */
export const maxStock = 2_000_000_000;
export const stockAdjustmentReasons = ['received', 'correction', 'damaged', 'returned'] as const;

export const stockAdjustmentSchema = withSchemaName(
  'StockAdjustment',
  z.object({
    id: idSchema,
    product_id: idSchema,
    delta: z.number().int().describe('Number of units added; negative if units were removed.'),
    stock_after: z.number().int().min(0).describe('Stock after the adjustment, in units.'),
    reason: z.enum(stockAdjustmentReasons),
    note: lengthLimitedTextSchema(500).nullable(),
    created_at: timestampSchema,
  }),
);

export const stockAdjustmentCreateSchema = withSchemaName(
  'StockAdjustmentCreate',
  z
    .object({
      delta: z
        .number()
        .int()
        .min(-maxStock)
        .max(maxStock)
        .refine((delta) => delta !== 0, { message: 'must not be 0' })
        .describe('Number of units to add; negative to remove units.'),
      reason: z.enum(stockAdjustmentReasons),
      note: multilineTextSchema(500).optional(),
    })
    .strict(),
);

export type StockAdjustment = z.output<typeof stockAdjustmentSchema>;
export type StockAdjustmentCreate = z.output<typeof stockAdjustmentCreateSchema>;
