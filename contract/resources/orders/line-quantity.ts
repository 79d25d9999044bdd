import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { orderLinesMax, quantityMax } from './orders.ts';

/** Units of one line of an order. */
export const lineQuantity = component(
  'LineQuantity',
  z
    .object({
      line: z.number().int().min(1).max(orderLinesMax).describe('Line of the order.'),
      quantity: z.number().int().min(1).max(quantityMax),
    })
    .strict(),
);

export type LineQuantity = z.output<typeof lineQuantity>;
