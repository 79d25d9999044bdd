import { contract, fileFormats, taxModes } from '@mandate/contract';
import { z } from 'zod';

/** Parameters of an order import task, as stored with the task. */
export const orderImportTaskParamsSchema = contract.orderImports.create.query.extend({
  format: z.enum(fileFormats),
  tax_mode: z.enum(taxModes),
  user_id: z.number().optional(),
});
export type OrderImportParams = z.output<typeof orderImportTaskParamsSchema>;
