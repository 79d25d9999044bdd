import type { ApprovalStatus } from '@mandate/contract';
import { recordAuditEvent, type RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { approvalFromEntity, type ApprovalWithQuote } from './approval-from-entity.ts';

export type ApprovalChange = 'requested' | Exclude<ApprovalStatus, 'pending'>;

/** Origin of a change to an approval. */
export type ApprovalActor = {
  readonly source: RequestSource;
  /** Client ID of the application that made the change; undefined if the change was made on the account pages. */
  readonly clientId?: string | undefined;
  /** Whether the user signed in with a second factor; undefined if the change is not a decision. */
  readonly hasSecondFactor?: boolean | undefined;
};

/** Origin of the changes that the server itself makes to approvals. */
export const serverAsApprovalActor: ApprovalActor = { source: { ip: null, userAgent: null } };

/** Records an event and an audit event for a change to an approval, in the transaction that makes the change. */
export async function recordApprovalEventAndAuditEvent(
  em: EntityManager,
  change: ApprovalChange,
  found: ApprovalWithQuote,
  { source, clientId, hasSecondFactor }: ApprovalActor,
  now: Date,
): Promise<void> {
  const { approval, quote } = found;
  const body = approvalFromEntity(found, now);
  await recordEvent(em, `approval.${change}`, { ...body, version: approval.version }, approval.user);
  const details = {
    application: approval.clientId,
    quote_id: quote.id,
    total: quote.total,
    currency: quote.currency,
    ...(body.order_id !== null && { order_id: body.order_id }),
    ...(hasSecondFactor !== undefined && { second_factor: hasSecondFactor }),
  };
  const actorId = change === 'expired' ? undefined : approval.user;
  const event = {
    action: `approval.${change}`,
    actorId,
    userId: approval.user,
    clientId,
    subject: `approval:${approval.id}`,
    details,
  } as const;
  await recordAuditEvent(em, source, event, now);
}
