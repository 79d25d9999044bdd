import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { commaSeparatedEnumSchema, listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  bodyProblemCodes,
  cursorProblemCodes,
  ifMatchFailureCodes,
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
  timestampSchema,
  timestampInputSchema,
  singleLineInputSchema,
  lengthLimitedTextSchema,
} from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();

export const userProblemTypes = {
  email_taken: { status: 409, title: 'The e-mail address is in use' },
  open_orders: { status: 409, title: 'The user has open orders' },
  last_administrator: { status: 409, title: 'The last administrator cannot be removed' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...userProblemTypes });

/** Maximum length of the part of an e-mail address before the `@` (RFC 5321 section 4.5.3.1.1). */
const maxLocalPartLength = 64;

/**
 * E-mail address: 3 to 254 characters, one `@` after at most 64 characters, and a domain with a dot. Quotes, comments, brackets and spaces
 * are rejected, because a mail server could parse such text as two addresses.
 */
export const emailSchema = z
  .string()
  .trim()
  .min(3)
  .max(254)
  .email('must be an e-mail address such as ann@example.com')
  .regex(
    // The pattern is also part of the OpenAPI document, so it uses only syntax that all programming languages support (no `\p{Cc}`).
    // oxlint-disable-next-line no-control-regex, no-useless-escape -- control characters are excluded; Java requires the escape
    /^[^\s"(),:;<>@\[\\\]\x00-\x1f\x7f-\x9f]+@[^\s"(),:;<>@\[\\\]\x00-\x1f\x7f-\x9f]+\.[^\s"(),:;<>@\[\\\]\x00-\x1f\x7f-\x9f]+$/,
    'must be an e-mail address such as ann@example.com',
  )
  .refine((address) => address.indexOf('@') <= maxLocalPartLength, `must have at most ${maxLocalPartLength} characters before the @`);

/** A language tag (BCP 47). Tags that begin with a single letter, such as `i-klingon` or `x-shop`, are rejected. */
const localeInputSchema = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, 'must be a language tag (BCP 47) such as de or pt-BR')
  .nullable()
  .describe(
    "Language of the pages and e-mails that the user sees, as a BCP 47 language tag. If the server does not support the language, pages use the first supported language in the browser's preferences, or English if there is none. `null` removes the setting.",
  );

export const userRoles = ['customer', 'staff', 'admin'] as const;
export const userStatuses = ['active', 'suspended', 'closed'] as const;

export const userSchema = withSchemaName(
  'User',
  z.object({
    id: idSchema,
    name: lengthLimitedTextSchema(200, 1).describe('Full name.'),
    email: lengthLimitedTextSchema(254, 3).describe('E-mail address, unique among users whose accounts are not closed (case-insensitive).'),
    email_verified: z
      .boolean()
      .describe('Whether the user has confirmed the e-mail address. The value becomes `false` when another user changes the address.'),
    status: z.enum(userStatuses).describe('A `suspended` or `closed` user cannot sign in, and no application can act for the user.'),
    role: z
      .enum(userRoles)
      .describe('Users with the role `staff` or `admin` can access resources of other users if the token has a scope that allows it.'),
    locale: z
      .string()
      .nullable()
      .describe(
        "Language of the pages and e-mails that the user sees, as a BCP 47 language tag such as `de`. If `null`, pages use the browser's language.",
      ),
    version: z.number().int().min(1).describe('Version number, incremented on every change.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  }),
);

export const userCreateSchema = withSchemaName(
  'UserCreate',
  z
    .object({
      name: singleLineInputSchema(200).describe('Full name.'),
      email: emailSchema.describe('E-mail address; must not be in use by another user.'),
      locale: localeInputSchema.optional(),
    })
    .strict(),
);

export const userUpdateSchema = withSchemaName(
  'UserUpdate',
  z
    .object({
      name: singleLineInputSchema(200).describe('Full name.'),
      email: emailSchema.describe('E-mail address; must not be in use by another user.'),
      locale: localeInputSchema,
      status: z.enum(['active', 'suspended']).describe('Status of a customer. Requires the `users.manage` scope.'),
      role: z
        .enum(userRoles)
        .describe('Role of the user. Requires the `users.administer` scope, an administrator account and a recent sign-in.'),
    })
    .partial()
    .strict(),
);

const userPath = z.object({ user_id: pathIdSchema('ID of the user.') });

export const userRoutes = defineResource('Users', 'User accounts of customers, staff and administrators.', {
  me: {
    method: 'GET',
    path: '/users/me',
    query: z.object({}).strict(),
    summary: 'Get the signed-in user',
    description: 'Returns the authenticated user. An application that acts on its own behalf has no user and receives 403.',
    headers: ifNoneMatchHeadersSchema,
    responses: { 200: userSchema, 304: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations) },
    metadata: declareRouteMetadata({ operationId: 'users.me', access: ['users.read', 'users.manage'] }),
  },
  get: {
    method: 'GET',
    path: '/users/:user_id',
    pathParams: userPath,
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get a user',
    description:
      "Returns a user. `users.read` allows reading the data of the token's user. Reading other users' data requires `users.manage` and a staff account.",
    responses: { 200: userSchema, 304: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'users.get', access: ['users.read', 'users.manage'] }),
  },
  create: {
    method: 'POST',
    path: '/users',
    headers: idempotencyHeadersSchema,
    body: userCreateSchema,
    summary: 'Create a user',
    description: 'Creates a customer. Requires a staff account. Customers can also create their own accounts on the sign-up page.',
    responses: {
      201: userSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'email_taken'),
    },
    metadata: declareRouteMetadata({ operationId: 'users.create', access: ['users.manage'], idempotent: true }),
  },
  list: {
    method: 'GET',
    path: '/users',
    query: z
      .object({
        ...paginationParameters,
        email: singleLineInputSchema(254).optional().describe('Only the user with this e-mail address (case-insensitive).'),
        status: commaSeparatedEnumSchema(userStatuses).optional(),
        role: commaSeparatedEnumSchema(userRoles).optional(),
        created_at_gte: timestampInputSchema.optional().describe('Only users created at this time or later.'),
        created_at_lt: timestampInputSchema.optional().describe('Only users created before this time.'),
        sort: z.enum(['created_at', '-created_at']).default('-created_at').describe('Sort order; `-` means descending.'),
      })
      .strict(),
    summary: 'List users',
    description: 'Returns users. Requires a staff account.',
    responses: { 200: listPageSchema('UserPage', userSchema), ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes) },
    metadata: declareRouteMetadata({ operationId: 'users.list', access: ['users.manage'] }),
  },
  update: {
    method: 'PATCH',
    path: '/users/:user_id',
    pathParams: userPath,
    headers: ifMatchHeadersSchema,
    body: userUpdateSchema,
    summary: 'Update a user',
    description:
      "Updates the fields given in a JSON merge patch (RFC 7396). `users.write` allows changing the name and the locale of the token's user. `users.manage` allows staff to change the name, locale, e-mail address and status of customers. Changing a role, or the account of a staff member or administrator, requires `users.administer` and an administrator who signed in within the last 15 minutes. If the sign-in is older, the response is 401 `insufficient_user_authentication` with the required `max_age` (RFC 9470). A new e-mail address is unverified and cannot be used to reset the password until the user confirms it with the link sent to it. Both the old and the new address are notified. A suspended user is signed out everywhere, and no application can act for the user until the account is active again.",
    responses: {
      200: userSchema,
      ...fails(
        ...problemCodesOfAuthorizedOperations,
        ...bodyProblemCodes,
        ...ifMatchFailureCodes,
        'insufficient_user_authentication',
        'not_found',
        'email_taken',
        'invalid_transition',
        'last_administrator',
      ),
    },
    metadata: declareRouteMetadata({ operationId: 'users.update', access: ['users.write', 'users.manage', 'users.administer'] }),
  },
  close: {
    method: 'DELETE',
    path: '/users/:user_id',
    pathParams: userPath,
    headers: ifMatchHeadersSchema,
    summary: 'Close a user account',
    description:
      "Closes an account permanently. The user's name is deleted, the e-mail address becomes available again, and every application loses its access to the account. Orders are preserved. `users.write` allows closing the account of the token's user. `users.manage` allows administrators to close the account of a customer. Closing the account of a staff member or administrator requires `users.administer` and an administrator who signed in within the last 15 minutes (RFC 9470).",
    responses: {
      204: c.noBody(),
      ...fails(
        ...problemCodesOfAuthorizedOperations,
        ...ifMatchFailureCodes,
        'insufficient_user_authentication',
        'not_found',
        'open_orders',
        'last_administrator',
        'invalid_transition',
      ),
    },
    metadata: declareRouteMetadata({ operationId: 'users.close', access: ['users.write', 'users.manage', 'users.administer'] }),
  },
});
export type User = z.output<typeof userSchema>;
export type UserCreate = z.output<typeof userCreateSchema>;
export type UserUpdate = z.output<typeof userUpdateSchema>;
