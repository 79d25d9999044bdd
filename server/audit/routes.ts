import { initServer } from '@ts-rest/express';
import { contract, type AuditEvent } from '@mandate/contract';
import { instant } from '../database/time/timestamp-format.ts';
import { refuseReversed } from '../http/response/list-parameters.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { listAuditEvents } from './list-audit-events.ts';

export const auditEventRoutes = ({ em, pages }: ResourceDeps) =>
  initServer().router(contract.auditEvents, {
    list: async ({ query, req, res }) => {
      refuseReversed(query, 'occurred_at_gte', 'occurred_at_lt');
      const { user_id: userId, action, outcome, occurred_at_gte: occurredAtGte, occurred_at_lt: occurredAtLt } = query;
      const filters = { userId, action, outcome, occurredAtGte, occurredAtLt };
      const rows = await listAuditEvents(em, filters, pages.positionOf(req, query), query.limit);
      return { status: 200, body: pages.answer(req, res, query, rows, toAuditEvent, (row) => [instant(row.occurred_at), row.id]) };
    },
  });

const toAuditEvent = (row: AuditEvent): AuditEvent => ({ ...row, occurred_at: instant(row.occurred_at) });
