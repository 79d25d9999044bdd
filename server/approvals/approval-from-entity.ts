import type { Approval as ApprovalBody, ApprovalStatus, ApprovalSummary } from '@mandate/contract';
import { Application } from '../applications/application.entity.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { QuoteEntity } from '../quotes/quote-and-quote-reservation.entity.ts';
import type { ApprovalEntity } from './approval-and-second-factor-amount.entity.ts';

/** An approval and the quote that it covers. */
export type ApprovalWithQuote = { readonly approval: ApprovalEntity; readonly quote: QuoteEntity; readonly applicationName: string };

/** Derives the status from the timestamps of the approval and its quote. */
export function deriveApprovalStatus({ approval, quote }: Pick<ApprovalWithQuote, 'approval' | 'quote'>, now: Date): ApprovalStatus {
  if (approval.usedAt) return 'used';
  if (approval.declinedAt) return 'declined';
  // If the customer has raised the limit in the meantime, an order can be placed from the quote even without the approval.
  if (approval.canceledAt ?? quote.canceledAt ?? quote.convertedAt) return 'canceled';
  if (approval.expiresAt <= now) return 'expired';
  return approval.approvedAt ? 'approved' : 'pending';
}

export const approvalSummaryFromEntity = (found: ApprovalWithQuote, now: Date): ApprovalSummary => {
  const { approval, quote, applicationName } = found;
  return {
    id: approval.id,
    status: deriveApprovalStatus(found, now),
    quote_id: quote.id,
    user_id: approval.user,
    client_id: approval.clientId,
    application_name: applicationName,
    currency: quote.currency,
    total: quote.total,
    message: approval.message ?? null,
    // Approval reasons that the previous release stored do not contain categories.
    reason: approval.reason ? { ...approval.reason, categories: approval.reason.categories ?? null } : null,
    order_id: approval.order ?? null,
    expires_at: approval.expiresAt.toISOString(),
    created_at: approval.createdAt.toISOString(),
    approved_at: toTimestamp(approval.approvedAt),
    declined_at: toTimestamp(approval.declinedAt),
    canceled_at: toTimestamp(approval.canceledAt),
    used_at: toTimestamp(approval.usedAt),
  };
};

export const approvalFromEntity = (found: ApprovalWithQuote, now: Date): ApprovalBody => ({
  ...approvalSummaryFromEntity(found, now),
  items: found.quote.items.map(({ product_id, sku, name, quantity, total }) => ({ product_id, sku, name, quantity, total })),
});

const toTimestamp = (at: Date | null | undefined): string | null => at?.toISOString() ?? null;

/**
 * Adds the quotes, which the caller must have loaded, and the application names to the approvals. The name of a deleted application is its
 * client ID.
 */
export async function joinApprovalsWithQuotesAndAppNames(
  em: EntityManager,
  approvals: readonly ApprovalEntity[],
): Promise<ApprovalWithQuote[]> {
  const where = { clientId: { $in: [...new Set(approvals.map(({ clientId }) => clientId))] } };
  const applications = await em.find(Application, where, { fields: ['clientId', 'name'], disableIdentityMap: true });
  const names = new Map(applications.map(({ clientId, name }) => [clientId, name]));
  return approvals.map((approval) => ({
    approval,
    quote: approval.quote.unwrap(),
    applicationName: names.get(approval.clientId) ?? approval.clientId,
  }));
}
