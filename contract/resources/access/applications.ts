import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import { extensibleEnumSchema } from '../../schema/extensible-enum.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  bodyProblemCodes,
  cursorProblemCodes,
  problemCodesOfAuthorizedPosts,
} from '../../protocol/problems.ts';
import {
  nullableSpendingLimitsInputSchema,
  nullableSpendingLimitsSchema,
} from '../../protocol/order-limit-and-authorization-details-schemas.ts';
import { nullableProductLimitsInputSchema, nullableProductLimitsSchema } from '../../protocol/order-product-limits.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { scopeNames } from '../../protocol/scopes.ts';
import { secretRotationBodySchema } from '../../schema/secret-shown-once.ts';
import { timestampSchema, singleLineInputSchema, lengthLimitedTextSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { applicationAuthenticationResponseFields, applicationAuthenticationInputFields } from './application-authentication.ts';
import { applicationLogoAndLinkFields, applicationLogoAndLinkInputFields } from './application-logo-and-links.ts';
import { clientSecretSchema, registrationTokenSchema, rotatedClientSecretSchema } from './client-secret-and-registration-token-schemas.ts';

const c = initContract();

export const applicationProblemTypes = {
  client_id_taken: { status: 409, title: 'The client ID is in use' },
  application_has_no_secret: { status: 409, title: 'The application has no secret' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...applicationProblemTypes });

export const applicationGrantTypes = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:device_code',
] as const;

/** How an application was registered. */
export const applicationRegistrationMethods = ['administrator', 'registration_token', 'open_registration', 'metadata_document'] as const;

const [firstScope, ...moreScopes] = scopeNames;
if (firstScope === undefined) throw new Error('the contract declares no scopes');
const scope = extensibleEnumSchema([firstScope, ...moreScopes]);
const preapproved = extensibleEnumSchema(['openid', 'profile', 'email', 'offline_access', firstScope, ...moreScopes]);

/** Maximum time that a rotated client secret remains valid, in seconds. */
export const maxClientSecretOverlapSeconds = 7 * 24 * 60 * 60;
/** Maximum lifetime of a registration token, in seconds. */
export const maxRegistrationTokenSeconds = 30 * 24 * 60 * 60;

/** Maximum grace period, in seconds. A stolen refresh token can remain usable for this long after its rotation. */
export const maxRefreshGraceSeconds = 300;
/** Maximum value of a rate limit or quota, in requests. */
export const maxConfigurableRequestLimit = 1_000_000_000;

const address = lengthLimitedTextSchema(2000, 1);
const descriptions = {
  name: 'Name shown to users.',
  redirect_uris: 'Redirect URIs. Redirect URIs are compared by exact string matching, except for the port of a loopback address.',
  post_logout_redirect_uris: 'URIs to which users can be redirected after signing out.',
  backchannel_logout_uri:
    "URL that receives a logout token when a user's session ends (OpenID Connect Back-Channel Logout); `null` if the application needs no logout tokens. The URL must be an https URL on the public internet; in development, http on the loopback interface is also accepted. ID tokens issued to applications with this URL contain `sid`.",
  scopes: 'Scopes that the application can be granted. Removing a scope also removes it from existing tokens.',
  preapproved_scopes:
    'Scopes that an administrator has approved for all users. Users are not asked to consent to these scopes. Removing a scope revokes it immediately for users who did not consent to it themselves.',
  grant_types: 'Grant types that the application can use.',
  first_party: 'Whether the shop itself operates the application. If `true`, the consent page says that the shop operates the application.',
  rate_limit_per_minute: 'Maximum number of requests per minute for each user. `null` means the default limit.',
  quota_per_month: 'Maximum number of requests per calendar month (UTC), across all users. `null` means the default quota.',
  order_limits_ceiling:
    'Highest order limits that customers can set for the application; `null` means no maximum. Requests for higher limits are rejected. The maximum also applies to existing grants, starting with the next request.',
  order_products_ceiling:
    'Product categories from which customers can allow the application to order; `null` means all products. Requests for products in other categories are rejected. This restriction also applies to existing grants, starting with the next request.',
  refresh_grace_seconds:
    'Grace period in seconds after a refresh token has been rotated. During this period, a repeated request returns the same response, provided that the new refresh token has not been used. `0` disables the grace period, for example for FAPI clients. `null` means the server default.',
};

const fields = {
  id: idSchema,
  client_id: z.string(),
  name: z.string().describe(descriptions.name),
  type: z.enum(['public', 'confidential']).describe("A `public` application cannot keep a secret, because it runs on its users' devices."),
  ...applicationLogoAndLinkFields,
  redirect_uris: z.array(z.string()).describe(descriptions.redirect_uris),
  post_logout_redirect_uris: z.array(z.string()).describe(descriptions.post_logout_redirect_uris),
  backchannel_logout_uri: z.string().nullable().describe(descriptions.backchannel_logout_uri),
  scopes: z.array(z.string()).describe(descriptions.scopes),
  preapproved_scopes: z.array(z.string()).describe(descriptions.preapproved_scopes),
  grant_types: z.array(z.enum(applicationGrantTypes)).describe(descriptions.grant_types),
  status: z
    .enum(['active', 'disabled'])
    .describe('A `disabled` application cannot obtain tokens, and its existing tokens stop working immediately.'),
  first_party: z.boolean().describe(descriptions.first_party),
  registration: extensibleEnumSchema(applicationRegistrationMethods).describe(
    'How the application was registered: by an `administrator`, with a `registration_token` (RFC 7591), through `open_registration` without a registration token, or through the `metadata_document` whose URL is the client ID (OAuth Client ID Metadata Document). An application registered through `open_registration` or `metadata_document` is public, cannot have administrative scopes, and must ask its users for consent at every sign-in.',
  ),
  rate_limit_per_minute: z.number().int().min(1).nullable().describe(descriptions.rate_limit_per_minute),
  quota_per_month: z.number().int().min(1).nullable().describe(descriptions.quota_per_month),
  refresh_grace_seconds: z.number().int().min(0).nullable().describe(descriptions.refresh_grace_seconds),
  order_limits_ceiling: nullableSpendingLimitsSchema.describe(descriptions.order_limits_ceiling),
  order_products_ceiling: nullableProductLimitsSchema.describe(descriptions.order_products_ceiling),
  ...applicationAuthenticationResponseFields,
  version: z.number().int().min(1).describe('Version number, incremented on every change.'),
  created_at: timestampSchema,
  updated_at: timestampSchema,
};

export const applicationSchema = withSchemaName('Application', z.object(fields));
export const createdApplicationResponseSchema = withSchemaName(
  'ApplicationWithSecret',
  z.object({ ...fields, client_secret: clientSecretSchema }),
);

const changeable = {
  name: singleLineInputSchema(100).describe(descriptions.name),
  ...applicationLogoAndLinkInputFields,
  redirect_uris: z.array(address).max(10).describe(descriptions.redirect_uris),
  post_logout_redirect_uris: z.array(address).max(10).describe(descriptions.post_logout_redirect_uris),
  backchannel_logout_uri: address.nullable().describe(descriptions.backchannel_logout_uri),
  scopes: z.array(scope).max(scopeNames.length).describe(descriptions.scopes),
  preapproved_scopes: z
    .array(preapproved)
    .max(scopeNames.length + 4)
    .describe(descriptions.preapproved_scopes),
  grant_types: z.array(z.enum(applicationGrantTypes)).min(1).max(applicationGrantTypes.length).describe(descriptions.grant_types),
  first_party: z.boolean().describe(descriptions.first_party),
  rate_limit_per_minute: z.number().int().min(1).max(maxConfigurableRequestLimit).nullable().describe(descriptions.rate_limit_per_minute),
  quota_per_month: z.number().int().min(1).max(maxConfigurableRequestLimit).nullable().describe(descriptions.quota_per_month),
  refresh_grace_seconds: z.number().int().min(0).max(maxRefreshGraceSeconds).nullable().describe(descriptions.refresh_grace_seconds),
  order_limits_ceiling: nullableSpendingLimitsInputSchema.describe(descriptions.order_limits_ceiling),
  order_products_ceiling: nullableProductLimitsInputSchema.describe(descriptions.order_products_ceiling),
  ...applicationAuthenticationInputFields,
};

export const applicationCreateSchema = withSchemaName(
  'ApplicationCreate',
  z
    .object({
      ...changeable,
      client_id: z
        .string()
        .regex(/^[a-z][a-z0-9_-]{1,63}$/, 'must be 2 to 64 characters from a-z, 0-9, _ and -, beginning with a letter')
        // API keys have client IDs with this prefix in usage counters and log entries.
        .refine((name) => !name.startsWith('api-key-'), 'must not begin with api-key-')
        .optional()
        .describe('Client ID (default: generated by the server).'),
      type: z.enum(['public', 'confidential']),
      redirect_uris: changeable.redirect_uris.optional(),
      post_logout_redirect_uris: changeable.post_logout_redirect_uris.optional(),
      backchannel_logout_uri: changeable.backchannel_logout_uri.optional(),
      preapproved_scopes: changeable.preapproved_scopes.optional(),
      first_party: changeable.first_party.optional(),
      rate_limit_per_minute: changeable.rate_limit_per_minute.optional(),
      quota_per_month: changeable.quota_per_month.optional(),
      refresh_grace_seconds: changeable.refresh_grace_seconds.optional(),
      order_limits_ceiling: changeable.order_limits_ceiling.optional(),
      order_products_ceiling: changeable.order_products_ceiling.optional(),
    })
    .strict(),
);

export const applicationUpdateSchema = withSchemaName(
  'ApplicationUpdate',
  z
    .object({ ...changeable, status: z.enum(['active', 'disabled']).describe(fields.status.description ?? '') })
    .partial()
    .strict(),
);

const onlyAdministrators = 'Requires an administrator account.';
const access = ['applications.manage'] as const;
const pathParams = z.object({ application_id: pathIdSchema('ID of the application.') });

export const applicationRoutes = defineResource('Applications', 'Registered OAuth clients and the scopes that they can be granted.', {
  list: {
    method: 'GET',
    path: '/applications',
    query: z.object({ limit: paginationParameters.limit, cursor: paginationParameters.cursor }).strict(),
    summary: 'List applications',
    description: `Returns all registered applications, newest first. ${onlyAdministrators}`,
    responses: {
      200: listPageSchema('ApplicationPage', applicationSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'applications.list', access }),
  },
  get: {
    method: 'GET',
    path: '/applications/:application_id',
    pathParams,
    summary: 'Get an application',
    description: onlyAdministrators,
    responses: { 200: applicationSchema, ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'applications.get', access }),
  },
  create: {
    method: 'POST',
    path: '/applications',
    headers: idempotencyHeadersSchema,
    body: applicationCreateSchema,
    summary: 'Register an application',
    description: `Registers an OAuth client. The client secret is shown only once. An application that authenticates with a key or a certificate has no secret. ${onlyAdministrators}`,
    responses: {
      201: createdApplicationResponseSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'client_id_taken'),
    },
    metadata: declareRouteMetadata({ operationId: 'applications.create', access, idempotent: true, secret: 'client_secret' }),
  },
  update: {
    method: 'PATCH',
    path: '/applications/:application_id',
    pathParams,
    body: applicationUpdateSchema,
    summary: 'Update an application',
    description: `Omitted fields keep their values. Changes apply from the next request onward. If the application was registered through a metadata document, only \`status\`, \`backchannel_logout_uri\`, \`rate_limit_per_minute\`, \`quota_per_month\`, \`order_limits_ceiling\` and \`order_products_ceiling\` can be changed, because the document defines the other fields. ${onlyAdministrators}`,
    responses: { 200: applicationSchema, ...fails(...problemCodesOfAuthorizedOperations, ...bodyProblemCodes, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'applications.update', access }),
  },
  delete: {
    method: 'DELETE',
    path: '/applications/:application_id',
    pathParams,
    summary: 'Delete an application',
    description: `Deletes the application and all its grants. The application's tokens stop working immediately. An application that was registered through a metadata document is registered again when it is next used. To block such an application, disable it instead. ${onlyAdministrators}`,
    responses: { 204: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'applications.delete', access }),
  },
  rotateSecret: {
    method: 'POST',
    path: '/applications/:application_id/secret-rotations',
    pathParams,
    headers: idempotencyHeadersSchema,
    body: withSchemaName(
      'SecretRotationCreate',
      secretRotationBodySchema(maxClientSecretOverlapSeconds, 'How long the previous secret remains valid, in seconds (default: 1 day).'),
    ),
    summary: 'Rotate the client secret of an application',
    description: `The new secret is valid immediately, and the previous one remains valid for \`overlap_seconds\`. You can also use this operation to create a secret after you have changed \`token_endpoint_auth_method\` to \`client_secret_basic\`. ${onlyAdministrators}`,
    responses: {
      201: rotatedClientSecretSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'not_found', 'application_has_no_secret'),
    },
    metadata: declareRouteMetadata({ operationId: 'applications.rotateSecret', access, idempotent: true, secret: 'client_secret' }),
  },
  createRegistrationToken: {
    method: 'POST',
    path: '/registration-tokens',
    headers: idempotencyHeadersSchema,
    body: withSchemaName(
      'RegistrationTokenCreate',
      z
        .object({
          expires_in: z
            .number()
            .int()
            .min(60)
            .max(maxRegistrationTokenSeconds)
            .optional()
            .describe('Lifetime of the token in seconds (default: 1 day).'),
        })
        .strict(),
    ),
    summary: 'Create a registration token',
    description: `Creates an initial access token for dynamic client registration (RFC 7591). Applications registered with such a token can have only scopes that customers can consent to. ${onlyAdministrators}`,
    responses: {
      201: registrationTokenSchema,
      ...fails(...problemCodesOfAuthorizedPosts),
    },
    metadata: declareRouteMetadata({
      operationId: 'applications.createRegistrationToken',
      access,
      idempotent: true,
      secret: 'initial_access_token',
    }),
  },
});
export type Application = z.output<typeof applicationSchema>;
export type ApplicationWithSecret = z.output<typeof createdApplicationResponseSchema>;
export type SecretRotation = z.output<typeof rotatedClientSecretSchema>;
export type RegistrationToken = z.output<typeof registrationTokenSchema>;
export type ApplicationCreate = z.output<typeof applicationCreateSchema>;
export type ApplicationUpdate = z.output<typeof applicationUpdateSchema>;
