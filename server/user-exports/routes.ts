import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { getClientAddressAndUserAgent, recordAuditEvent } from '../audit/record-audit-event.ts';
import { requireAnyScope } from '../http/middleware/authorize-by-scope.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import { requireRecentSignIn } from '../http/request/recent-sign-in-and-second-factor-checks.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { startTaskIdempotently } from '../http/writes/idempotency.ts';
import { enqueueTask } from '../tasks/enqueue-task.ts';
import { getTaskPath } from '../tasks/task-from-entity.ts';

export const userExportCreationRoute = (dependencies: HandlerDependencies) =>
  initServer().router(contract.userExports, {
    create: (request) => handleCreateUserExport(dependencies, request),
  });

const handleCreateUserExport: RouteHandler<typeof contract.userExports.create, HandlerDependencies> = ({ em }, { body, req, res }) => {
  const principal = requirePrincipal(req);
  requireAnyScope(principal, 'users.administer');
  const now = new Date();
  if (body.password_hashes) requireRecentSignIn(principal, now);
  return startTaskIdempotently(
    em,
    req,
    res,
    async (inner) => {
      const task = await enqueueTask(inner, principal, { type: 'user_export', params: body, needs: ['users.administer'] });
      const event = {
        action: 'accounts.exported',
        actorId: principal.user?.id,
        clientId: principal.clientId,
        subject: `task:${task.id}`,
        details: { rows: body.rows, password_hashes: body.password_hashes },
      } as const;
      await recordAuditEvent(inner, getClientAddressAndUserAgent(req), event, now);
      return task;
    },
    getTaskPath,
  );
};
