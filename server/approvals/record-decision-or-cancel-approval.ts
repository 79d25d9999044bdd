import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createProblem, type Problem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { approvalFromEntity, deriveApprovalStatus, type ApprovalWithQuote } from './approval-from-entity.ts';
import { Approval } from './approval-and-second-factor-amount.entity.ts';
import { recordApprovalEventAndAuditEvent, type ApprovalActor, type ApprovalChange } from './record-approval-event-and-audit-event.ts';

/**
 * Records the customer's decision (approved or declined) on a pending approval. The caller must have locked the approval, and must have
 * checked that the actor may decide on the approval.
 * @throws {Problem} `invalid_transition` if the approval is not pending
 */
export async function recordApprovalDecision(
  em: EntityManager,
  decision: 'approved' | 'declined',
  found: ApprovalWithQuote,
  actor: ApprovalActor,
  now: Date,
): Promise<ApprovalWithQuote> {
  if (deriveApprovalStatus(found, now) !== 'pending') throw createNotPossibleProblem(found, decision, now);
  const fields = decision === 'approved' ? { approvedAt: now } : { declinedAt: now };
  return storeAndRecordChange(em, decision, found, fields, actor, now);
}

/**
 * Cancels an approval that has not been used. The caller must have locked the approval.
 * @throws {Problem} `invalid_transition` if the approval is neither pending nor approved
 */
export async function cancelApproval(
  em: EntityManager,
  found: ApprovalWithQuote,
  actor: ApprovalActor,
  now: Date,
): Promise<ApprovalWithQuote> {
  const canceled = await cancelApprovalIfOpen(em, found, actor, now);
  if (!canceled) throw createNotPossibleProblem(found, 'canceled', now);
  return canceled;
}

/** Cancels an approval that the caller has locked. Returns undefined if the approval is neither pending nor approved. */
export async function cancelApprovalIfOpen(
  em: EntityManager,
  found: ApprovalWithQuote,
  actor: ApprovalActor,
  now: Date,
): Promise<ApprovalWithQuote | undefined> {
  const status = deriveApprovalStatus(found, now);
  if (status !== 'pending' && status !== 'approved') return undefined;
  return storeAndRecordChange(em, 'canceled', found, { canceledAt: now }, actor, now);
}

type ChangedFields = Partial<Record<'approvedAt' | 'declinedAt' | 'canceledAt', Date>>;

async function storeAndRecordChange(
  em: EntityManager,
  change: ApprovalChange,
  { approval, ...rest }: ApprovalWithQuote,
  fields: ChangedFields,
  actor: ApprovalActor,
  now: Date,
): Promise<ApprovalWithQuote> {
  const version = approval.version + 1;
  await em.nativeUpdate(Approval, { id: approval.id }, { ...fields, version, updatedAt: now });
  const changed = { ...rest, approval: Object.assign(approval, fields, { version }) };
  await recordApprovalEventAndAuditEvent(em, change, changed, actor, now);
  return changed;
}

function createNotPossibleProblem(found: ApprovalWithQuote, change: ApprovalChange, now: Date): Problem {
  const { id, status, expires_at: expiresAt } = approvalFromEntity(found, now);
  const detail =
    status === 'expired'
      ? translatable`Approval request ${{ id }} expired at ${{ at: new Date(expiresAt) }} and can no longer be ${{ change }}.`
      : translatable`Approval request ${{ id }} is ${{ status }} and cannot be ${{ change }}.`;
  return createProblem('invalid_transition', { detail });
}
