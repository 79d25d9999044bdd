import { contract, fileFormats } from '@mandate/contract';
import { z } from 'zod';

/** Parameters of a user import task, as stored with the task. */
export const userImportTaskParamsSchema = contract.userImports.create.query.extend({ format: z.enum(fileFormats) });
export type UserImportParams = z.output<typeof userImportTaskParamsSchema>;
