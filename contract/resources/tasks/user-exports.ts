import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { commonProblemTypes, declareProblemResponses, problemCodesOfAuthorizedPosts } from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { exportFormatSchema, taskCreationProblemCodes, taskSchema, taskProblemTypes } from './tasks.ts';

const fails = declareProblemResponses({ ...commonProblemTypes, ...taskProblemTypes });

/** Columns of the exported file, by kind of row. */
export const userExportColumns = {
  users: [
    ...(['id', 'source', 'external_id', 'name', 'email', 'email_verified', 'status', 'role', 'locale'] as const),
    ...(['metadata', 'consented_at', 'created_at', 'updated_at'] as const),
  ],
  consents: ['user_id', 'email', 'client_id', 'application', 'scopes', 'granted_at'],
} as const;

export const userExportCreateSchema = withSchemaName(
  'UserExportCreate',
  z
    .object({
      format: exportFormatSchema,
      rows: z
        .enum(['users', 'consents'])
        .default('users')
        .describe('Whether each row represents a user, or the scopes that a user has granted to an application.'),
      password_hashes: z
        .boolean()
        .default(false)
        .describe(
          '`true` adds the `password_hash` column, so that users can keep their passwords in another system. Requires a recent sign-in and `rows: users`.',
        ),
    })
    .strict()
    .refine(({ rows, password_hashes: hashes }) => rows === 'users' || !hashes, {
      path: ['password_hashes'],
      message: 'requires `rows` to be `users`',
    }),
);

export const userExportRoutes = defineResource('User exports', 'User accounts and consents, exported to files.', {
  create: {
    method: 'POST',
    path: '/user-exports',
    headers: idempotencyHeadersSchema,
    body: userExportCreateSchema,
    summary: 'Export users',
    description:
      'Starts a task that exports users, or the consents of users, to a file, oldest user first. Closed accounts are not included. Requires a signed-in administrator. With `password_hashes`, the administrator must have signed in within the last 15 minutes. If the sign-in is older, the response is 401 `insufficient_user_authentication` with the required `max_age` (RFC 9470). In CSV files, an apostrophe precedes text that a spreadsheet would interpret as a formula.',
    responses: {
      202: taskSchema,
      ...fails(...problemCodesOfAuthorizedPosts, ...taskCreationProblemCodes, 'insufficient_user_authentication'),
    },
    metadata: declareRouteMetadata({ operationId: 'userExports.create', access: ['tasks.write'], idempotent: true }),
  },
});
export type UserExportCreate = z.output<typeof userExportCreateSchema>;
