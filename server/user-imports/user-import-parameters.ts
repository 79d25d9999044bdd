import { contract, fileFormats } from '@mandate/contract';
import { z } from 'zod';

/** The stored parameters of an import task. */
export const userImportTaskParamsSchema = contract.userImports.create.query.extend({ format: z.enum(fileFormats) });
export type UserImportParams = z.output<typeof userImportTaskParamsSchema>;
