import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { id, pathId } from '../../schema/ids.ts';
import { commaList, page, pageQuery } from '../../schema/pagination.ts';
import { commonProblems, failuresOf, guarded, withBody, withCursor, withIdempotencyKey, withIfMatch } from '../../protocol/problems.ts';
import { describedBy, idempotencyHeaders, ifMatchHeaders, ifNoneMatchHeaders } from '../../protocol/route-metadata.ts';
import { instant, instantInput, line } from '../../schema/text.ts';

const c = initContract();

export const userProblems = {
  email_taken: { status: 409, title: 'The e-mail address is in use' },
  open_orders: { status: 409, title: 'Orders are still open' },
  last_administrator: { status: 409, title: 'The last administrator has to stay' },
} as const;

const fails = failuresOf({ ...commonProblems, ...userProblems });

/** 3 to 254 characters, one `@`, a domain with a dot; no quotes, comments, brackets or blanks, so that no mailer reads it as two. */
export const email = z
  .string()
  .trim()
  .min(3)
  .max(254)
  .email('must be an e-mail address such as ann@example.com')
  .regex(
    /^[^\s"(),:;<>@[\\\]\p{Cc}]+@[^\s"(),:;<>@[\\\]\p{Cc}]+\.[^\s"(),:;<>@[\\\]\p{Cc}]+$/u,
    'must be an e-mail address such as ann@example.com',
  );

export const userRoles = ['customer', 'staff', 'admin'] as const;
export const userStatuses = ['active', 'suspended', 'closed'] as const;

export const user = component(
  'User',
  z.object({
    id,
    name: z.string().min(1).max(200).describe('Full name.'),
    email: z.string().min(3).max(254).describe('E-mail address; unique among users that are not closed, whatever its case.'),
    email_verified: z
      .boolean()
      .describe('Whether the user has confirmed to receive messages at the e-mail address. `false` after someone else changed it.'),
    status: z.enum(userStatuses).describe('A suspended or closed user cannot sign in, and no application can act for them.'),
    role: z.enum(userRoles).describe('`staff` and `admin` can act on what belongs to others, with a scope that allows it.'),
    version: z.number().int().min(1).describe('Counts the changes.'),
    created_at: instant,
    updated_at: instant,
  }),
);

export const userCreate = component(
  'UserCreate',
  z
    .object({
      name: line(200).describe('Full name.'),
      email: email.describe('E-mail address; must not be in use.'),
    })
    .strict(),
);

export const userUpdate = component(
  'UserUpdate',
  z
    .object({
      name: line(200).describe('Full name.'),
      email: email.describe('E-mail address; must not be in use.'),
      status: z.enum(['active', 'suspended']).describe('Of a customer, with `users.manage`.'),
      role: z.enum(userRoles).describe('For administrators with `users.administer` and a recent sign-in.'),
    })
    .partial()
    .strict(),
);

const userPath = z.object({ user_id: pathId('Identifier of the user.') });

export const users = c.router({
  me: {
    method: 'GET',
    path: '/users/me',
    query: z.object({}).strict(),
    summary: 'Get the signed-in user',
    description: 'The person the access token acts for. A token of an application that acts for itself has none: 403.',
    headers: ifNoneMatchHeaders,
    responses: { 200: user, 304: c.noBody(), ...fails(...guarded) },
    metadata: describedBy({ operationId: 'users.me', access: ['users.read', 'users.manage'] }),
  },
  get: {
    method: 'GET',
    path: '/users/:user_id',
    pathParams: userPath,
    headers: ifNoneMatchHeaders,
    summary: 'Get a user',
    description: '`users.read` reaches the user the token acts for; others need `users.manage` and a member of staff.',
    responses: { 200: user, 304: c.noBody(), ...fails(...guarded, 'not_found') },
    metadata: describedBy({ operationId: 'users.get', access: ['users.read', 'users.manage'] }),
  },
  create: {
    method: 'POST',
    path: '/users',
    headers: idempotencyHeaders,
    body: userCreate,
    summary: 'Create a user',
    description: 'For members of staff. People sign themselves up on the sign-up page.',
    responses: { 201: user, ...fails(...guarded, ...withBody, ...withIdempotencyKey, 'email_taken') },
    metadata: describedBy({ operationId: 'users.create', access: ['users.manage'], idempotent: true }),
  },
  list: {
    method: 'GET',
    path: '/users',
    query: z
      .object({
        ...pageQuery,
        email: line(254).optional().describe('Only the user with this address, whatever its case.'),
        status: commaList(userStatuses).optional(),
        role: commaList(userRoles).optional(),
        created_at_gte: instantInput.optional().describe('Created at this moment or later.'),
        created_at_lt: instantInput.optional().describe('Created before this moment.'),
        sort: z.enum(['created_at', '-created_at']).default('-created_at').describe('`-` is descending.'),
      })
      .strict(),
    summary: 'List users',
    description: 'For members of staff.',
    responses: { 200: page('UserPage', user), ...fails(...guarded, ...withCursor) },
    metadata: describedBy({ operationId: 'users.list', access: ['users.manage'] }),
  },
  update: {
    method: 'PATCH',
    path: '/users/:user_id',
    pathParams: userPath,
    headers: ifMatchHeaders,
    body: userUpdate,
    summary: 'Change a user',
    description:
      'A merge patch (RFC 7396). `users.write` changes the name of the user the token acts for. `users.manage` changes the name, e-mail address and status of customers and requires a staff account. Roles, and the accounts of staff and administrators, require `users.administer`, a signed-in administrator, and a sign-in during the last 15 minutes: otherwise the response is 401 `insufficient_user_authentication` with the required `max_age` (RFC 9470). A changed e-mail address is unverified until it is confirmed by the link that is sent to it, and resets no password before; the old and the new address are notified. A suspended user is signed out everywhere, and no application can act for them until they are active again.',
    responses: {
      200: user,
      ...fails(
        ...guarded,
        ...withBody,
        ...withIfMatch,
        'insufficient_user_authentication',
        'not_found',
        'email_taken',
        'invalid_transition',
        'last_administrator',
      ),
    },
    metadata: describedBy({ operationId: 'users.update', access: ['users.write', 'users.manage', 'users.administer'] }),
  },
  close: {
    method: 'DELETE',
    path: '/users/:user_id',
    pathParams: userPath,
    headers: ifMatchHeaders,
    summary: 'Close a user',
    description:
      'For good: the name is removed, the e-mail address is free again, every application loses its access. Orders stay. `users.write` closes the account of the user the token acts for, `users.manage` with an administrator that of a customer. The accounts of staff and administrators require `users.administer`, a signed-in administrator, and a sign-in during the last 15 minutes (RFC 9470).',
    responses: {
      204: c.noBody(),
      ...fails(
        ...guarded,
        ...withIfMatch,
        'insufficient_user_authentication',
        'not_found',
        'open_orders',
        'last_administrator',
        'invalid_transition',
      ),
    },
    metadata: describedBy({ operationId: 'users.close', access: ['users.write', 'users.manage', 'users.administer'] }),
  },
});
export type User = z.output<typeof user>;
export type UserCreate = z.output<typeof userCreate>;
export type UserUpdate = z.output<typeof userUpdate>;
