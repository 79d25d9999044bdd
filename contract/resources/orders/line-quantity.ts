import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { orderLinesMax, quantityMax } from './orders.ts';

/** A number of units of one order line. */
export const lineQuantity = component(
  'LineQuantity',
  z
    .object({
      line: z.number().int().min(1).max(orderLinesMax).describe('Number of the order line.'),
      quantity: z.number().int().min(1).max(quantityMax),
    })
    .strict(),
);

export type LineQuantity = z.output<typeof lineQuantity>;
