import type { RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Approval } from './approval-and-second-factor-amount.entity.ts';
import { listApprovals } from './filter-find-and-lock-approvals.ts';
import { recordApprovalEventAndAuditEvent } from './record-approval-event-and-audit-event.ts';

/**
 * Records an event and an audit event if the SQL function `place_order` has marked the quote's approval as used. Call this function in the
 * transaction that places the order.
 */
export async function recordEventsIfQuoteApprovalWasUsed(em: EntityManager, quoteId: number, source: RequestSource): Promise<void> {
  if ((await em.count(Approval, { quote: quoteId, usedAt: { $ne: null } })) === 0) return;
  for (const found of await listApprovals(em, [{ quote: quoteId, usedAt: { $ne: null } }], 1)) {
    await recordApprovalEventAndAuditEvent(em, 'used', found, { source, clientId: found.approval.clientId }, new Date());
  }
}
