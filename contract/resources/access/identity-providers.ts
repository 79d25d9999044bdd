import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { extensibleEnumSchema } from '../../schema/extensible-enum.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { acceptedLogosText, logoBodySchema, logoSchema, logoUploadRouteMetadata } from '../../schema/logo-schemas.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  bodyProblemCodes,
  commonProblemTypes,
  cursorProblemCodes,
  declareProblemResponses,
  fileUploadProblemCodes,
  ifMatchFailureCodes,
  problemCodesOfAuthorizedOperations,
  problemCodesOfAuthorizedPosts,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import {
  declareRouteMetadata,
  idempotencyHeadersSchema,
  ifMatchHeadersSchema,
  ifNoneMatchHeadersSchema,
} from '../../protocol/route-metadata.ts';
import {
  multilineTextSchema,
  singleLineInputSchema,
  lengthLimitedTextSchema,
  timestampSchema,
} from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();
const fails = declareProblemResponses(commonProblemTypes);

/** Kinds of identity providers. `oidc` is any other provider that follows OpenID Connect. */
export const identityProviderPresetNames = ['google', 'apple', 'microsoft', 'oidc'] as const;
/** How the server authenticates at the token endpoint of a provider. */
export const identityProviderAuthenticationMethods = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'apple_client_secret',
] as const;
/** Users who can sign in through a provider. */
export const identityProviderAudiences = ['everyone', 'customers', 'staff'] as const;

const descriptions = {
  slug: 'Identifier of the provider, used in the redirect URI. The identifier cannot be changed.',
  preset: 'Kind of provider, which determines default values and special handling. `oidc`: any provider that follows OpenID Connect.',
  issuer:
    'Issuer URL, from which the server discovers the endpoints (OpenID Connect Discovery). Accounts are identified by issuer and `sub`.',
  client_id: 'Client ID that the provider issued to the shop.',
  token_endpoint_auth_method:
    "How the server authenticates at the provider's token endpoint. `private_key_jwt` and `apple_client_secret` use `private_key` instead of `client_secret`.",
  key_id: 'Key ID (`kid`) of `private_key` at the provider.',
  team_id: 'Apple team ID; only for `apple_client_secret`.',
  scopes:
    "Scopes to request from the provider; must include `openid`. With `offline_access`, whenever an application refreshes its tokens, the server uses the provider's refresh token to check that the account still exists at the provider.",
  button_label:
    'Text on the sign-in button; `null` means “Continue with” followed by the name of the provider, in the language of the page.',
  name: 'Name of the provider on pages and in e-mails.',
  audience: 'Users who can sign in through the provider: `customers`, `staff` (including administrators) or `everyone`.',
  email_domain: 'If set, only accounts with a verified e-mail address in this domain can be used.',
  creates_accounts:
    'Whether the first sign-in of an unknown user with a verified e-mail address creates a customer account. Existing accounts are never linked automatically.',
  two_factor_values:
    "Values of `acr` or `amr` in the provider's ID tokens that prove that the user signed in with two factors. Other sign-ins through the provider count as one factor.",
  required_for_staff:
    'Whether staff and administrators must sign in through this provider, or another provider with this setting, instead of with a password or passkey. Existing sessions and tokens are not affected.',
  break_glass_user_id:
    'Administrator who can always sign in with a password or passkey, even if the provider is unavailable. Required if `required_for_staff` is true.',
  status: 'A `disabled` provider has no sign-in button, and users cannot sign in through it.',
};

const fields = {
  id: idSchema,
  slug: z.string().describe(descriptions.slug),
  preset: extensibleEnumSchema(identityProviderPresetNames).describe(descriptions.preset),
  name: z.string().describe(descriptions.name),
  issuer: z.string().describe(descriptions.issuer),
  client_id: z.string().describe(descriptions.client_id),
  token_endpoint_auth_method: extensibleEnumSchema(identityProviderAuthenticationMethods).describe(descriptions.token_endpoint_auth_method),
  key_id: z.string().nullable().describe(descriptions.key_id),
  team_id: z.string().nullable().describe(descriptions.team_id),
  scopes: z.array(z.string()).describe(descriptions.scopes),
  button_label: z.string().nullable().describe(descriptions.button_label),
  logo: logoSchema.nullable().describe('Logo on the sign-in button; `null` if the button has only text.'),
  audience: extensibleEnumSchema(identityProviderAudiences).describe(descriptions.audience),
  email_domain: z.string().nullable().describe(descriptions.email_domain),
  creates_accounts: z.boolean().describe(descriptions.creates_accounts),
  two_factor_values: z.array(z.string()).describe(descriptions.two_factor_values),
  required_for_staff: z.boolean().describe(descriptions.required_for_staff),
  break_glass_user_id: idSchema.nullable().describe(descriptions.break_glass_user_id),
  status: z.enum(['enabled', 'disabled']).describe(descriptions.status),
  redirect_uri: z.string().describe('Redirect URI to register with the provider.'),
  backchannel_logout_uri: z.string().describe('URL for logout tokens (OpenID Connect Back-Channel Logout) to register with the provider.'),
  version: z.number().int().min(1).describe('Version number, incremented on every change.'),
  created_at: timestampSchema,
  updated_at: timestampSchema,
};

export const identityProviderSchema = withSchemaName('IdentityProvider', z.object(fields));

const protocolText = z.string().regex(/^[!-~]{1,200}$/, 'must be 1 to 200 printable ASCII characters without spaces');
const credentials = {
  client_secret: z
    .string()
    .regex(/^[ -~]{1,1000}$/, 'must be 1 to 1000 printable ASCII characters')
    .optional()
    .describe('Client secret, which is stored encrypted and never returned.'),
  private_key: multilineTextSchema(8000)
    .optional()
    .describe('Private key, in PKCS #8 PEM format. The key is stored encrypted and never returned.'),
};

const changeable = {
  name: singleLineInputSchema(60).describe(descriptions.name),
  client_id: protocolText.describe(descriptions.client_id),
  token_endpoint_auth_method: z.enum(identityProviderAuthenticationMethods).describe(descriptions.token_endpoint_auth_method),
  key_id: protocolText.nullable().describe(descriptions.key_id),
  team_id: protocolText.nullable().describe(descriptions.team_id),
  scopes: z.array(protocolText).min(1).max(20).describe(descriptions.scopes),
  button_label: singleLineInputSchema(60).nullable().describe(descriptions.button_label),
  audience: z.enum(identityProviderAudiences).describe(descriptions.audience),
  email_domain: z
    .string()
    .max(253)
    .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'must be a lowercase domain name, such as shop.example')
    .nullable()
    .describe(descriptions.email_domain),
  creates_accounts: z.boolean().describe(descriptions.creates_accounts),
  two_factor_values: z.array(protocolText).max(20).describe(descriptions.two_factor_values),
  required_for_staff: z.boolean().describe(descriptions.required_for_staff),
  break_glass_user_id: idSchema.nullable().describe(descriptions.break_glass_user_id),
  status: z.enum(['enabled', 'disabled']).describe(descriptions.status),
};

export const identityProviderCreateSchema = withSchemaName(
  'IdentityProviderCreate',
  z
    .object(changeable)
    .partial()
    .extend({
      ...credentials,
      slug: z
        .string()
        .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be 1 to 40 characters from a-z, 0-9 and -')
        .describe(descriptions.slug),
      preset: z.enum(identityProviderPresetNames).describe(descriptions.preset),
      issuer: lengthLimitedTextSchema(500, 1)
        .optional()
        .describe(`${descriptions.issuer} Default for Google and Apple: the provider's own issuer.`),
      client_id: changeable.client_id,
    })
    .strict(),
);

export const identityProviderUpdateSchema = withSchemaName(
  'IdentityProviderUpdate',
  z
    .object({ ...changeable, ...credentials })
    .partial()
    .strict(),
);

const onlyAdministrators = 'Requires an administrator account.';
const access = ['identity_providers.manage'] as const;
const pathParams = z.object({ identity_provider_id: pathIdSchema('ID of the identity provider.') });

export const identityProviderRoutes = defineResource('Identity providers', 'Services through which users can sign in.', {
  list: {
    method: 'GET',
    path: '/identity-providers',
    query: z.object({ limit: paginationParameters.limit, cursor: paginationParameters.cursor }).strict(),
    summary: 'List identity providers',
    description: `Returns all identity providers, newest first. ${onlyAdministrators}`,
    responses: {
      200: listPageSchema('IdentityProviderPage', identityProviderSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'identityProviders.list', access }),
  },
  get: {
    method: 'GET',
    path: '/identity-providers/:identity_provider_id',
    pathParams,
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get an identity provider',
    description: onlyAdministrators,
    responses: { 200: identityProviderSchema, 304: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'identityProviders.get', access }),
  },
  create: {
    method: 'POST',
    path: '/identity-providers',
    headers: idempotencyHeadersSchema,
    body: identityProviderCreateSchema,
    summary: 'Add an identity provider',
    description: `Adds a button to the sign-in page. Register the \`redirect_uri\` from the response with the provider. The server does not contact the provider until the first sign-in. ${onlyAdministrators}`,
    responses: { 201: identityProviderSchema, ...fails(...problemCodesOfAuthorizedPosts, 'conflict') },
    metadata: declareRouteMetadata({ operationId: 'identityProviders.create', access, idempotent: true, returnsEtag: true }),
  },
  update: {
    method: 'PATCH',
    path: '/identity-providers/:identity_provider_id',
    pathParams,
    headers: ifMatchHeadersSchema,
    body: identityProviderUpdateSchema,
    summary: 'Update an identity provider',
    description: `Updates the fields given in a JSON merge patch (RFC 7396). Omitted fields keep their values. ${onlyAdministrators}`,
    responses: {
      200: identityProviderSchema,
      ...fails(...problemCodesOfAuthorizedOperations, ...bodyProblemCodes, ...ifMatchFailureCodes, 'not_found'),
    },
    metadata: declareRouteMetadata({ operationId: 'identityProviders.update', access }),
  },
  delete: {
    method: 'DELETE',
    path: '/identity-providers/:identity_provider_id',
    pathParams,
    headers: ifMatchHeadersSchema,
    summary: 'Delete an identity provider',
    description: `Removes the sign-in button. Linked accounts are kept, and work again if a provider with the same issuer is added. ${onlyAdministrators}`,
    responses: { 204: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, ...ifMatchFailureCodes, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'identityProviders.delete', access }),
  },
  setLogo: {
    method: 'PUT',
    path: '/identity-providers/:identity_provider_id/logo',
    pathParams,
    body: logoBodySchema,
    summary: 'Set the logo of an identity provider',
    description: `Stores the image from the request body as the logo on the sign-in button. The button shows the logo at 20 by 20 pixels, on a white background in dark mode. ${acceptedLogosText} ${onlyAdministrators}`,
    responses: { 200: identityProviderSchema, ...fails(...problemCodesOfAuthorizedOperations, ...fileUploadProblemCodes, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'identityProviders.setLogo', access, ...logoUploadRouteMetadata }),
  },
  deleteLogo: {
    method: 'DELETE',
    path: '/identity-providers/:identity_provider_id/logo',
    pathParams,
    summary: 'Delete the logo of an identity provider',
    description: `The sign-in button then shows only text. If there is no logo to delete, the request has no effect. ${onlyAdministrators}`,
    responses: { 204: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'identityProviders.deleteLogo', access }),
  },
});
export type IdentityProvider = z.output<typeof identityProviderSchema>;
export type IdentityProviderCreate = z.output<typeof identityProviderCreateSchema>;
export type IdentityProviderUpdate = z.output<typeof identityProviderUpdateSchema>;
