import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Approval } from './approval-and-second-factor-amount.entity.ts';
import { cancelApprovalIfOpen } from './record-decision-or-cancel-approval.ts';
import { joinApprovalsWithQuotesAndAppNames } from './approval-from-entity.ts';
import { buildApprovalStatusFilter, listApprovals } from './filter-find-and-lock-approvals.ts';
import { recordApprovalEventAndAuditEvent, serverAsApprovalActor } from './record-approval-event-and-audit-event.ts';

const batchMax = 200;

/** Records an event and an audit event for each newly expired approval, and returns the number of these approvals. */
export async function recordEventsOfNewlyExpiredApprovals(em: EntityManager, now: Date): Promise<number> {
  let reported = 0;
  for (let batch = batchMax; batch === batchMax; reported += batch)
    batch = await em.fork().transactional((inner) => reportBatch(inner, now));
  return reported;
}

/** Approvals that another transaction is changing are skipped; the next run checks them again. */
async function reportBatch(em: EntityManager, now: Date): Promise<number> {
  const isUnreported = { $and: [buildApprovalStatusFilter(['expired'], now), { expirationReportedAt: null }] };
  const ids = await em.find(Approval, isUnreported, { fields: ['id'], orderBy: { id: 'asc' }, limit: batchMax, disableIdentityMap: true });
  const where = { id: { $in: ids.map(({ id }) => id) }, usedAt: null, declinedAt: null, canceledAt: null, expirationReportedAt: null };
  const skipLocked = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, fields: ['id'], disableIdentityMap: true } as const;
  const locked = await em.find(Approval, where, { ...skipLocked, orderBy: { id: 'asc' } });
  if (locked.length === 0) return 0;
  const lockedIds = locked.map(({ id }) => id);
  await em.nativeUpdate(Approval, { id: { $in: lockedIds } }, { expirationReportedAt: now, updatedAt: now });
  const fork = em.fork({ keepTransactionContext: true });
  const expired = await fork.find(Approval, { id: { $in: lockedIds } }, { orderBy: { id: 'asc' }, populate: ['quote'] });
  for (const found of await joinApprovalsWithQuotesAndAppNames(fork, expired))
    await recordApprovalEventAndAuditEvent(em, 'expired', found, serverAsApprovalActor, now);
  return locked.length;
}

/** Cancels the open approvals of revoked grants, in the transaction that revokes the grants. */
export async function cancelApprovalsOfGrants(em: EntityManager, grantIds: readonly string[], now: Date): Promise<void> {
  const ofGrants = { $and: [{ grantId: { $in: [...grantIds] } }, buildApprovalStatusFilter(['pending', 'approved'], now)] };
  const ids = await em.find(Approval, ofGrants, { fields: ['id'], disableIdentityMap: true });
  if (ids.length === 0) return;
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, fields: ['id'], disableIdentityMap: true } as const;
  await em.find(Approval, { id: { $in: ids.map(({ id }) => id) } }, { ...lock, orderBy: { id: 'asc' } });
  for (const found of await listApprovals(em, [ofGrants], ids.length)) await cancelApprovalIfOpen(em, found, serverAsApprovalActor, now);
}
