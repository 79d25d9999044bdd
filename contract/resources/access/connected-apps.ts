import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  connectedAppLimitsInputSchema,
  orderAuthorizationDetailsSchema,
} from '../../protocol/order-limit-and-authorization-details-schemas.ts';
import {
  bodyProblemCodes,
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  cursorProblemCodes,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata } from '../../protocol/route-metadata.ts';
import { budgetSchema, applicableBudgetsSchema } from './current-authorization.ts';
import { sessionsKeysAndAppsPermissionText } from './sessions.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();
const fails = declareProblemResponses(commonProblemTypes);

const connectedAppPathParametersSchema = z.object({ connected_app_id: pathIdSchema('ID of the connected application.') });

const connectedAppLimitsSchema = withSchemaName(
  'ConnectedAppLimits',
  z.object({
    authorization_details: z
      .array(orderAuthorizationDetailsSchema)
      .describe(
        'Effective limits: the limits that the user set, further restricted by the limits of the shop. An empty list means that only the scopes limit the application.',
      ),
    customer_limits: z
      .array(orderAuthorizationDetailsSchema)
      .describe(
        'Limits that the user set, without the limits of the shop. An empty list means that the user set no limits. `PUT` replaces these limits.',
      ),
    budget: budgetSchema
      .nullable()
      .describe('How much of the budget has been used in the current period; `null` if there is no limit per period.'),
    budgets: applicableBudgetsSchema,
  }),
);

const connectedAppFields = {
  id: idSchema,
  application: z.object({
    client_id: z.string(),
    name: z.string(),
    first_party: z.boolean().describe('Whether the shop itself operates the application.'),
  }),
  device: z.string().nullable().describe('Device on which the user gave consent, derived from the `User-Agent` header; `null` if unknown.'),
  scopes: z.array(z.string()).describe('Scopes that were granted to the application.'),
  created_at: timestampSchema.describe('When the user gave consent.'),
  last_used_at: timestampSchema.describe('When the application last obtained an access token. Access tokens expire after five minutes.'),
};

export const connectedAppSchema = withSchemaName('ConnectedApp', z.object(connectedAppFields));

const connectedAppOfUserSchema = withSchemaName(
  'ConnectedAppOfUser',
  z.object({ ...connectedAppFields, limits: connectedAppLimitsSchema }),
);

export const connectedAppRoutes = defineResource('Connected applications', "Applications that can act on the user's behalf.", {
  list: {
    method: 'GET',
    path: '/connected-apps',
    query: z.object({ limit: paginationParameters.limit, cursor: paginationParameters.cursor }).strict(),
    summary: 'List connected applications',
    description:
      'Returns the applications that can currently act on behalf of the user, newest first. An application that is connected on several devices has one entry for each device.',
    responses: {
      200: listPageSchema('ConnectedAppPage', connectedAppSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'connectedApps.list', access: ['connected_apps.read'] }),
  },
  listOfUser: {
    method: 'GET',
    path: '/users/:user_id/connected-apps',
    pathParams: z.object({ user_id: pathIdSchema('ID of the user.') }),
    query: z.object({ limit: paginationParameters.limit, cursor: paginationParameters.cursor }).strict(),
    summary: "List a user's connected applications",
    description: `Returns the applications that can currently act on behalf of a user, newest first, with their limits and spending. ${sessionsKeysAndAppsPermissionText}`,
    responses: {
      200: listPageSchema('ConnectedAppOfUserPage', connectedAppOfUserSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes, 'not_found'),
    },
    metadata: declareRouteMetadata({ operationId: 'connectedApps.listOfUser', access: ['users.manage', 'users.administer'] }),
  },
  remove: {
    method: 'DELETE',
    path: '/connected-apps/:connected_app_id',
    pathParams: connectedAppPathParametersSchema,
    query: z
      .object({
        api_keys: z
          .enum(['revoke', 'keep'])
          .optional()
          .describe('What happens to the API keys that the application created for the user (default: `revoke`).'),
      })
      .strict(),
    summary: 'Remove a connected application',
    description:
      "Immediately revokes the application's access. The application must ask the user for consent before it can regain access. The API keys that the application created for the user, on any device, are also revoked, unless `api_keys=keep` is set.",
    responses: { 204: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'connectedApps.remove', access: ['connected_apps.write'] }),
  },
  getLimits: {
    method: 'GET',
    path: '/connected-apps/:connected_app_id/limits',
    pathParams: connectedAppPathParametersSchema,
    query: z.object({}).strict(),
    summary: 'Get the limits of a connected application',
    description: "Returns the limits that you set for the application's orders, and how much of the budget has been used.",
    responses: { 200: connectedAppLimitsSchema, ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'connectedApps.getLimits', access: ['connected_apps.read'] }),
  },
  setLimits: {
    method: 'PUT',
    path: '/connected-apps/:connected_app_id/limits',
    pathParams: connectedAppPathParametersSchema,
    query: z.object({}).strict(),
    body: connectedAppLimitsInputSchema,
    summary: 'Set the limits of a connected application',
    description:
      "Replaces the limits for the application's orders. The limits apply to every order that is placed or paid for after the response has been returned. An application that is itself subject to order limits cannot set limits.",
    responses: { 200: connectedAppLimitsSchema, ...fails(...problemCodesOfAuthorizedOperations, ...bodyProblemCodes, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'connectedApps.setLimits', access: ['connected_apps.write'] }),
  },
  removeLimits: {
    method: 'DELETE',
    path: '/connected-apps/:connected_app_id/limits',
    pathParams: connectedAppPathParametersSchema,
    query: z.object({}).strict(),
    summary: 'Remove the limits of a connected application',
    description:
      "Removes the limits for the application's orders, so that the application is limited only by its scopes. If the application can access only the orders that it placed, this restriction remains, unless the shop operates the application and the application did not request the restriction. To lift the restriction, set `orders` to `all`. To revoke all access, remove the application instead. An application that is itself subject to order limits cannot remove limits.",
    responses: { 204: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'connectedApps.removeLimits', access: ['connected_apps.write'] }),
  },
});
export type ConnectedApp = z.output<typeof connectedAppSchema>;
export type ConnectedAppOfUser = z.output<typeof connectedAppOfUserSchema>;
export type ConnectedAppLimits = z.output<typeof connectedAppLimitsSchema>;
