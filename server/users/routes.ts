import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import {
  respondWithEtagOfChangedResource,
  respondWithEtagOrNotModified,
  rejectIfMatchMismatch,
} from '../http/response/etag-and-conditional-requests.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { rejectReversedTimeRange, createTotalCountFields } from '../http/response/time-range-and-total-count.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { assertPrincipalCanAccessAllOrders } from '../http/request/assert-principal-can-access-all-orders.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { assertUserChangeAuthorized } from './authorize-user-change.ts';
import { createUser } from './create-user.ts';
import { findCurrentUserOrThrow, findUserOrThrow, findUserForUpdateOrThrow } from './find-user-and-check-access.ts';
import { userFromEntity } from './user-from-entity.ts';
import { lockActiveAdministratorRows } from './assert-other-administrator-remains.ts';
import { countUsers, listUsers } from './list-users.ts';
import { auditUserStatusOrRoleChange } from './audit-user-status-or-role-change.ts';
import { closeUserAndRevokeAccess } from './close-user-and-revoke-access.ts';
import { authorizeAndUpdateUser } from './authorize-and-update-user.ts';

const etagName = (id: number): string => `user-${id}`;

export const userRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.users, {
    me: (request) => handleGetCurrentUser(dependencies, request),
    get: (request) => handleGetUser(dependencies, request),
    create: (request) => handleCreateUser(dependencies, request),
    list: (request) => handleListUsers(dependencies, request),
    update: (request) => handleUpdateUser(dependencies, request),
    close: (request) => handleCloseUser(dependencies, request),
  });

const handleGetCurrentUser: RouteHandler<typeof contract.users.me, HandlerDependencies> = async ({ em }, { req, res }) => {
  const id = requirePrincipal(req).user?.id;
  if (id === undefined) throw createProblem('forbidden', { detail: 'This token does not act on behalf of a user.' });
  return respondWithEtagOrNotModified(req, res, etagName(id), await findCurrentUserOrThrow(em, id));
};

const handleGetUser: RouteHandler<typeof contract.users.get, HandlerDependencies> = async ({ em }, { params: { user_id: id }, req, res }) =>
  respondWithEtagOrNotModified(req, res, etagName(id), await findUserOrThrow(em, requirePrincipal(req), id));

const handleCreateUser: RouteHandler<typeof contract.users.create, HandlerDependencies> = ({ em }, { body, req, res }) =>
  createResourceIdempotently(
    em,
    req,
    res,
    (inner) => createUser(inner, body),
    ({ id }) => `/api/v1/users/${id}`,
  );

const handleListUsers: RouteHandler<typeof contract.users.list, HandlerDependencies> = async ({ em, pages }, { query, req, res }) => {
  rejectReversedTimeRange(query, 'created_at_gte', 'created_at_lt');
  const { email, status, role, created_at_gte: createdAtGte, created_at_lt: createdAtLt } = query;
  const filters = { email, status, role, createdAtGte, createdAtLt };
  const rows = await listUsers(em, filters, query.sort === '-created_at', pages.decodeCursor(req, query), query.limit);
  const page = pages.respondWithPage(req, res, query, rows, userFromEntity, (user) => [user.createdAt.toISOString(), user.id]);
  return { status: 200, body: { ...page, ...(await createTotalCountFields(query, () => countUsers(em, filters))) } };
};

const handleUpdateUser: RouteHandler<typeof contract.users.update, HandlerDependencies> = async (
  { em, endAccess, onEmailAddressChange },
  { params: { user_id: id }, body, req, res },
) => {
  const updated = await em.transactional(async (inner) => {
    if (body.role !== undefined || body.status !== undefined) await lockActiveAdministratorRows(inner);
    const principal = requirePrincipal(req);
    const user = await findUserForUpdateOrThrow(inner, principal, id);
    rejectIfMatchMismatch(req, etagName(id), user);
    const before = { status: user.status, role: user.role };
    await authorizeAndUpdateUser(
      inner,
      { endAccess, onEmailAddressChange },
      { principal, source: getClientAddressAndUserAgent(req) },
      user,
      body,
      new Date(),
    );
    await auditUserStatusOrRoleChange(inner, req, before, user);
    return userFromEntity(user);
  });
  return respondWithEtagOfChangedResource(res, etagName(id), updated);
};

const handleCloseUser: RouteHandler<typeof contract.users.close, HandlerDependencies> = async (
  { em, endAccess },
  { params: { user_id: id }, req },
) => {
  await em.transactional(async (inner) => {
    await lockActiveAdministratorRows(inner);
    const principal = requirePrincipal(req);
    const user = await findUserForUpdateOrThrow(inner, principal, id);
    rejectIfMatchMismatch(req, etagName(id), user);
    assertUserChangeAuthorized(principal, user, ['closure'], new Date());
    assertPrincipalCanAccessAllOrders(principal, 'close accounts, because the response would reveal whether other orders are open');
    await closeUserAndRevokeAccess(inner, endAccess, user);
    await auditUserStatusOrRoleChange(inner, req, { status: 'active', role: user.role }, user);
  });
  return { status: 204, body: undefined };
};
