import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { sourceOf } from '../audit/record-audit-event.ts';
import { changed, found, requireMatch } from '../http/response/etag.ts';
import { once } from '../http/writes/idempotency.ts';
import { refuseReversed, total } from '../http/response/list-parameters.ts';
import { problem } from '../http/problem-details/problem.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { authorizeUserChange } from './authorize-user-change.ts';
import { createUser } from './create-user.ts';
import { findUser, lockUser } from './find-user.ts';
import { toUser, userBody } from './user-body.ts';
import { lockAdministrators } from './administrator-guard.ts';
import { countUsers, listUsers } from './list-users.ts';
import { auditUserChange } from './audit-user-change.ts';
import { closeUser } from './close-user.ts';
import { updateUser } from './update-user.ts';

const etagName = (id: number): string => `user-${id}`;

export const userRoutes = ({ em, pages, endAccess, onEmailAddressChange }: ResourceDeps) =>
  initServer().router(contract.users, {
    me: async ({ req, res }) => {
      const id = principalOf(req).user?.id;
      if (id === undefined) throw problem('forbidden', { detail: 'This token does not act for a user.' });
      return found(req, res, etagName(id), await findUser(em, principalOf(req), id));
    },

    get: async ({ params: { user_id: id }, req, res }) => found(req, res, etagName(id), await findUser(em, principalOf(req), id)),

    create: ({ body, req, res }) =>
      once(
        em,
        req,
        res,
        (inner) => createUser(inner, body),
        ({ id }) => `/api/v1/users/${id}`,
      ),

    list: async ({ query, req, res }) => {
      refuseReversed(query, 'created_at_gte', 'created_at_lt');
      const { email, status, role, created_at_gte: createdAtGte, created_at_lt: createdAtLt } = query;
      const filters = { email, status, role, createdAtGte, createdAtLt };
      const rows = await listUsers(em, filters, query.sort === '-created_at', pages.positionOf(req, query), query.limit);
      const page = pages.answer(req, res, query, rows, toUser, (row) => [toUser(row).created_at, row.id]);
      return { status: 200, body: { ...page, ...(await total(query, () => countUsers(em, filters))) } };
    },

    update: async ({ params: { user_id: id }, body, req, res }) => {
      const updated = await em.transactional(async (inner) => {
        if (body.role !== undefined || body.status !== undefined) await lockAdministrators(inner);
        const principal = principalOf(req);
        const user = await lockUser(inner, principal, id);
        requireMatch(req, etagName(id), user);
        const before = { status: user.status, role: user.role };
        await updateUser(inner, { endAccess, onEmailAddressChange }, { principal, source: sourceOf(req) }, user, body, new Date());
        await auditUserChange(inner, req, before, user);
        return userBody(user);
      });
      return changed(res, etagName(id), updated);
    },

    close: async ({ params: { user_id: id }, req }) => {
      await em.transactional(async (inner) => {
        await lockAdministrators(inner);
        const principal = principalOf(req);
        const user = await lockUser(inner, principal, id);
        requireMatch(req, etagName(id), user);
        authorizeUserChange(principal, user, ['closure'], new Date());
        await closeUser(inner, endAccess, user);
        await auditUserChange(inner, req, { status: 'active', role: user.role }, user);
      });
      return { status: 204, body: undefined };
    },
  });
