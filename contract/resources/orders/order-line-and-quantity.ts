import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { maxOrderLines, maxLineQuantity } from './order-create-schema.ts';

/** Part of an order line: the line number, and the number of units. */
export const orderLineAndQuantitySchema = withSchemaName(
  'LineQuantity',
  z
    .object({
      line: z.number().int().min(1).max(maxOrderLines).describe('Number of the order line.'),
      quantity: z.number().int().min(1).max(maxLineQuantity),
    })
    .strict(),
);

export type LineQuantity = z.output<typeof orderLineAndQuantitySchema>;
