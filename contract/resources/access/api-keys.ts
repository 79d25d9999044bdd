import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  cursorProblemCodes,
  problemCodesOfAuthorizedPosts,
} from '../../protocol/problems.ts';
import { apiKeyOrderLimitsInputSchema, apiKeyOrderLimitsSchema } from '../../protocol/order-limit-and-authorization-details-schemas.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { administratorOnlyScopes, firstPartyOnlyScopes, type Scope, scopeNames } from '../../protocol/scopes.ts';
import { sessionsKeysAndAppsPermissionText } from './sessions.ts';
import { secretShownOnceSchema } from '../../schema/secret-shown-once.ts';
import {
  timestampSchema,
  timestampInputSchema,
  singleLineInputSchema,
  lengthLimitedTextSchema,
} from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();

export const apiKeyProblemTypes = {
  too_many_api_keys: { status: 409, title: 'Too many API keys' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...apiKeyProblemTypes });

/** Maximum number of active keys per user. */
export const maxApiKeysPerUser = 50;
/** Maximum lifetime of a key, in days. */
export const maxApiKeyLifetimeDays = 366;

/**
 * Scopes that a key can have. An API key cannot create other keys, because an attacker with a leaked key could otherwise retain access
 * after the key is revoked. Operations that require a recent sign-in do not accept keys either.
 */
const [firstScope, ...moreScopes] = scopeNames.filter(
  (scope) => scope !== 'api_keys.manage' && !administratorOnlyScopes.has(scope) && !firstPartyOnlyScopes.has(scope),
);
if (firstScope === undefined) throw new Error('no scope is available to API keys');
const keyScope = z.enum([firstScope, ...moreScopes]);

/** Returns whether API keys can have this scope. */
export const isApiKeyScope = (scope: Scope): boolean => keyScope.safeParse(scope).success;

const fields = {
  id: idSchema,
  name: lengthLimitedTextSchema(100, 1).describe('Name of the key, chosen by its owner.'),
  prefix: z.string().describe('First characters of the key, to identify it in lists.'),
  scopes: z.array(z.string()).describe('Scopes of the key. A scope has no effect while the owner is not allowed to use it.'),
  status: z.enum(['active', 'revoked', 'expired']),
  order_limits: apiKeyOrderLimitsSchema,
  created_by_client_id: z
    .string()
    .nullable()
    .describe(
      'Client ID of the application that created the key; `null` for a key from an older server version that did not record the application.',
    ),
  created_at: timestampSchema,
  expires_at: timestampSchema,
  last_used_at: timestampSchema.nullable().describe('Time of the last use, accurate to within one minute; `null` before the first use.'),
};

export const apiKeySchema = withSchemaName('ApiKey', z.object(fields));
export const createdApiKeyResponseSchema = withSchemaName(
  'ApiKeyWithSecret',
  z.object({
    ...fields,
    key: secretShownOnceSchema(
      'The API key.',
      'If the first response was lost, revoke this key and create another one with a new `Idempotency-Key`.',
    ),
  }),
);

export const apiKeyCreateRequestSchema = withSchemaName(
  'ApiKeyCreate',
  z
    .object({
      name: singleLineInputSchema(100).describe('Name of the key.'),
      scopes: z
        .array(keyScope)
        .min(1)
        .max(scopeNames.length)
        .describe('Scopes of the key. The token that is used for the request must have all these scopes.'),
      expires_at: timestampInputSchema
        .optional()
        .describe(`Expiration time, at most ${maxApiKeyLifetimeDays} days from now (default: 90 days from now).`),
      order_limits: apiKeyOrderLimitsInputSchema
        .optional()
        .describe('Limits for orders. The limits cannot be changed later. If this field is omitted, only the scopes limit the key.'),
    })
    .strict(),
);

export const apiKeyRoutes = defineResource('API keys', "API keys for the user's scripts and programs.", {
  list: {
    method: 'GET',
    path: '/api-keys',
    query: z.object({ limit: paginationParameters.limit, cursor: paginationParameters.cursor }).strict(),
    summary: 'List API keys',
    description: 'Returns the API keys of the current user, newest first. The keys themselves are not included.',
    responses: {
      200: listPageSchema('ApiKeyPage', apiKeySchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'apiKeys.list', access: ['api_keys.manage'] }),
  },
  listOfUser: {
    method: 'GET',
    path: '/users/:user_id/api-keys',
    pathParams: z.object({ user_id: pathIdSchema('ID of the user.') }),
    query: z.object({ limit: paginationParameters.limit, cursor: paginationParameters.cursor }).strict(),
    summary: "List a user's API keys",
    description: `Returns the API keys of a user, newest first. The keys themselves are not included. ${sessionsKeysAndAppsPermissionText}`,
    responses: {
      200: listPageSchema('ApiKeyPage', apiKeySchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes, 'not_found'),
    },
    metadata: declareRouteMetadata({ operationId: 'apiKeys.listOfUser', access: ['users.manage', 'users.administer'] }),
  },
  create: {
    method: 'POST',
    path: '/api-keys',
    headers: idempotencyHeadersSchema,
    body: apiKeyCreateRequestSchema,
    summary: 'Create an API key',
    description:
      'Creates a key that acts on behalf of the current user until it expires or is revoked. Send the key as `Authorization: Bearer mk_...`. The key is shown only once. The user must have signed in within the last 15 minutes.',
    responses: {
      201: createdApiKeyResponseSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'insufficient_user_authentication', 'too_many_api_keys'),
    },
    metadata: declareRouteMetadata({ operationId: 'apiKeys.create', access: ['api_keys.manage'], idempotent: true, secret: 'key' }),
  },
  revoke: {
    method: 'DELETE',
    path: '/api-keys/:api_key_id',
    pathParams: z.object({ api_key_id: pathIdSchema('ID of the API key.') }),
    summary: 'Revoke an API key',
    description: 'All further requests with the key are rejected. Revoking a key again has no effect.',
    responses: { 204: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'apiKeys.revoke', access: ['api_keys.manage'] }),
  },
});
export type ApiKey = z.output<typeof apiKeySchema>;
export type ApiKeyWithSecret = z.output<typeof createdApiKeyResponseSchema>;
export type ApiKeyCreate = z.output<typeof apiKeyCreateRequestSchema>;
