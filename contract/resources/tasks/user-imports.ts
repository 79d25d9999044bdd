import { z } from 'zod';
import {
  createImportColumnNameParameters,
  importDryRunParameter,
  importFileBodySchema,
  importFileLimitsText,
  importFileRouteMetadata,
  importSourceSystemSchema,
  importUtcOffsetSchema,
} from './import-parameters.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  fileUploadProblemCodes,
  idempotencyProblemCodes,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { taskCreationProblemCodes, taskSchema, taskProblemTypes } from './tasks.ts';

const fails = declareProblemResponses({ ...commonProblemTypes, ...taskProblemTypes });

/** Fields of one row, which represents one user. `given_name` and `family_name` are used if the row has no `name`. */
export const userImportFields = [
  ...(['external_id', 'email', 'name', 'given_name', 'family_name', 'email_verified', 'status', 'locale'] as const),
  ...(['metadata', 'consented_at', 'password_hash'] as const),
] as const;

const effects =
  'Starts a task that imports customers from another system. Each row describes one customer; `email` and a name are required. A row that was previously imported with the same data is left unchanged. A row whose e-mail address or external ID belongs to an existing user, or occurs earlier in the file, is rejected; existing users are never changed. Imported users sign in with their previous passwords if the file contains `password_hash` in one of the formats listed in the guide “Moving your shop”. Order imports find the users by e-mail address, or by external ID if the user import and the order import have the same `source`. The result file lists each rejected line and why it was rejected. Requires a signed-in administrator.';

export const userImportRoutes = defineResource('User imports', 'Import customers from other systems.', {
  create: {
    method: 'POST',
    path: '/user-imports',
    headers: idempotencyHeadersSchema,
    query: z
      .object({
        ...importDryRunParameter,
        source: importSourceSystemSchema.describe('Name of the source system. Users are identified by source and external ID.'),
        utc_offset: importUtcOffsetSchema,
        emails_verified: z
          .enum(['true', 'false'])
          .default('false')
          .describe('Whether e-mail addresses count as verified in rows without `email_verified`.'),
        events: z.enum(['true', 'false']).default('false').describe('`true` records a `user.created` event for each imported user.'),
        ...createImportColumnNameParameters(userImportFields),
      })
      .strict(),
    body: importFileBodySchema,
    summary: 'Import users',
    description: `${effects} ${importFileLimitsText}`,
    responses: {
      202: taskSchema,
      ...fails(...problemCodesOfAuthorizedOperations, ...fileUploadProblemCodes, ...idempotencyProblemCodes, ...taskCreationProblemCodes),
    },
    metadata: declareRouteMetadata({
      operationId: 'userImports.create',
      access: ['tasks.write'],
      idempotent: true,
      ...importFileRouteMetadata,
    }),
  },
});
