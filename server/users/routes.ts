import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { getRequestSource } from '../audit/record-audit-event.ts';
import { respondWithNewEtag, respondWithEtag, checkIfMatch } from '../http/response/etag.ts';
import { createIdempotently } from '../http/writes/idempotency.ts';
import { rejectReversedRange, totalCountFields } from '../http/response/list-parameters.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { requirePrincipal } from '../http/request/request-context.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import { authorizeUserChange } from './authorize-user-change.ts';
import { createUser } from './create-user.ts';
import { findUser, findUserForUpdate } from './find-user.ts';
import { userFromRow, userFromEntity } from './user-response.ts';
import { lockActiveAdministrators } from './administrator-guard.ts';
import { countUsers, listUsers } from './list-users.sql.ts';
import { auditUserChange } from './audit-user-change.ts';
import { closeUser } from './close-user.ts';
import { updateUser } from './update-user.ts';

const etagName = (id: number): string => `user-${id}`;

export const userRoutes = ({ em, pages, endAccess, onEmailAddressChange }: HandlerDependencies) =>
  initServer().router(contract.users, {
    me: async ({ req, res }) => {
      const id = requirePrincipal(req).user?.id;
      if (id === undefined) throw createProblem('forbidden', { detail: 'This token does not act on behalf of a user.' });
      return respondWithEtag(req, res, etagName(id), await findUser(em, requirePrincipal(req), id));
    },

    get: async ({ params: { user_id: id }, req, res }) =>
      respondWithEtag(req, res, etagName(id), await findUser(em, requirePrincipal(req), id)),

    create: ({ body, req, res }) =>
      createIdempotently(
        em,
        req,
        res,
        (inner) => createUser(inner, body),
        ({ id }) => `/api/v1/users/${id}`,
      ),

    list: async ({ query, req, res }) => {
      rejectReversedRange(query, 'created_at_gte', 'created_at_lt');
      const { email, status, role, created_at_gte: createdAtGte, created_at_lt: createdAtLt } = query;
      const filters = { email, status, role, createdAtGte, createdAtLt };
      const rows = await listUsers(em, filters, query.sort === '-created_at', pages.decodeCursor(req, query), query.limit);
      const page = pages.respondWithPage(req, res, query, rows, userFromRow, (row) => [userFromRow(row).created_at, row.id]);
      return { status: 200, body: { ...page, ...(await totalCountFields(query, () => countUsers(em, filters))) } };
    },

    update: async ({ params: { user_id: id }, body, req, res }) => {
      const updated = await em.transactional(async (inner) => {
        if (body.role !== undefined || body.status !== undefined) await lockActiveAdministrators(inner);
        const principal = requirePrincipal(req);
        const user = await findUserForUpdate(inner, principal, id);
        checkIfMatch(req, etagName(id), user);
        const before = { status: user.status, role: user.role };
        await updateUser(inner, { endAccess, onEmailAddressChange }, { principal, source: getRequestSource(req) }, user, body, new Date());
        await auditUserChange(inner, req, before, user);
        return userFromEntity(user);
      });
      return respondWithNewEtag(res, etagName(id), updated);
    },

    close: async ({ params: { user_id: id }, req }) => {
      await em.transactional(async (inner) => {
        await lockActiveAdministrators(inner);
        const principal = requirePrincipal(req);
        const user = await findUserForUpdate(inner, principal, id);
        checkIfMatch(req, etagName(id), user);
        authorizeUserChange(principal, user, ['closure'], new Date());
        await closeUser(inner, endAccess, user);
        await auditUserChange(inner, req, { status: 'active', role: user.role }, user);
      });
      return { status: 204, body: undefined };
    },
  });
