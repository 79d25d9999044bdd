import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { pathIdSchema } from '../../schema/ids.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  cursorProblemCodes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata } from '../../protocol/route-metadata.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const fails = declareProblemResponses(commonProblemTypes);

/** Describes who can see a user's sessions, API keys and connected applications. */
export const sessionsKeysAndAppsPermissionText =
  'If the user is a customer, `users.manage` and a staff account are required; otherwise, `users.administer` and an administrator account are required.';

export const sessionSchema = withSchemaName(
  'Session',
  z.object({
    id: z.string().describe('Identifier of the session; not a credential.'),
    device: z.string().nullable().describe('Browser and operating system, derived from the `User-Agent` header; `null` if unknown.'),
    started_at: timestampSchema.describe('When the user signed in.'),
    last_used_at: timestampSchema.describe('When the session was last used to sign in to an application, or to open an account page.'),
  }),
);

export const userSessionListRoute = defineResource('Sessions', 'Browsers in which users are signed in.', {
  listOfUser: {
    method: 'GET',
    path: '/users/:user_id/sessions',
    pathParams: z.object({ user_id: pathIdSchema('ID of the user.') }),
    query: z.object({ limit: paginationParameters.limit, cursor: paginationParameters.cursor }).strict(),
    summary: "List a user's sessions",
    description: `Returns the browsers in which a user is signed in, newest session first. IP addresses are returned only by the audit log. ${sessionsKeysAndAppsPermissionText}`,
    responses: {
      200: listPageSchema('SessionPage', sessionSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes, 'not_found'),
    },
    metadata: declareRouteMetadata({ operationId: 'sessions.listOfUser', access: ['users.manage', 'users.administer'] }),
  },
});
export type Session = z.output<typeof sessionSchema>;
