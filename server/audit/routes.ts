import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { rejectReversedTimeRange } from '../http/response/time-range-and-total-count.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { auditEventFromEntity, listAuditEvents } from './list-audit-events.ts';

export const auditEventRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.auditEvents, {
    list: (request) => handleListAuditEvents(dependencies, request),
  });

const handleListAuditEvents: RouteHandler<typeof contract.auditEvents.list, HandlerDependencies> = async (
  { em, pages },
  { query, req, res },
) => {
  rejectReversedTimeRange(query, 'occurred_at_gte', 'occurred_at_lt');
  const { user_id: userId, actor_id: actorId, client_id: clientId, action, outcome } = query;
  const { occurred_at_gte: occurredAtGte, occurred_at_lt: occurredAtLt } = query;
  const filters = { userId, actorId, clientId, action, outcome, occurredAtGte, occurredAtLt };
  const rows = await listAuditEvents(em, filters, pages.decodeCursor(req, query), query.limit);
  return {
    status: 200,
    body: pages.respondWithPage(req, res, query, rows, auditEventFromEntity, (event) => [event.occurredAt.toISOString(), event.id]),
  };
};
