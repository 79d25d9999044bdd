import type { InferEntity } from '@mikro-orm/core';
import { maxApprovalRequestsPerGrantIn24Hours, maxPendingApprovalsPerGrant, type ApprovalCreate } from '@mandate/contract';
import type { RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import { translatable, type TranslatableText, type ProblemDetail } from '../http/problem-details/translatable-text.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { assertOrderActionAllowed } from '../order-limits/assert-order-action-allowed.ts';
import { findUserSetOrderLimits } from '../order-limits/save-find-and-delete-order-limits.ts';
import { Quote, type QuoteEntity } from '../quotes/quote-and-quote-reservation.entity.ts';
import { lockUserRow } from '../users/lock-user-row.ts';
import type { ApprovalWithQuote } from './approval-from-entity.ts';
import { determineApprovalReason } from './determine-approval-reason.ts';
import { Approval } from './approval-and-second-factor-amount.entity.ts';
import { buildCustomerApprovalsFilter, buildApprovalStatusFilter, findApproval } from './filter-find-and-lock-approvals.ts';
import { recordApprovalEventAndAuditEvent } from './record-approval-event-and-audit-event.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Requests the customer's approval of a quote. Call this in a transaction.
 * @throws {Problem} if the application cannot request approvals, or if the quote is not open, already has an approval request or exceeds an
 * administrator's limit
 */
export async function requestApproval(
  em: EntityManager,
  principal: Principal,
  { quote_id: quoteId, message }: ApprovalCreate,
  source: RequestSource,
  now: Date,
): Promise<ApprovalWithQuote> {
  const { grantId, clientId, tokenRecordId } = principal;
  const userId = principal.user?.id;
  if (grantId === undefined || userId === undefined || tokenRecordId === undefined) {
    throw createProblem('forbidden', { detail: 'Only applications to which a customer has given access can request approvals.' });
  }
  assertOrderActionAllowed(principal, 'place', now);
  await lockUserRow(em, userId); // serializes concurrent requests, so that each request counts the earlier requests
  const limits = await findUserSetOrderLimits(em, grantId);
  if (limits?.approval === 'never') {
    throw createProblem('forbidden', { detail: 'The customer does not allow this application to request approvals.' });
  }
  const quote = await findOpenQuote(em, { user: userId, clientId }, quoteId, now);
  await assertQuoteNotSubmitted(em, quoteId, now);
  await assertFewRequests(em, grantId, now);
  const reason = await determineApprovalReason(em, { grantId, clientId, limits }, quote, now);
  const id = await em.insert(Approval, {
    quote: quoteId,
    user: userId,
    clientId,
    grantId,
    message: message ?? null,
    reason,
    expiresAt: quote.expiresAt,
    version: 1,
    createdAt: now,
    updatedAt: now,
  });
  const requested = await findApproval(em, buildCustomerApprovalsFilter(userId), id);
  if (!requested) throw new Error('the approval was not stored');
  await recordApprovalEventAndAuditEvent(em, 'requested', requested, { source, clientId }, now);
  return requested;
}

type QuoteOwner = { readonly user: number; readonly clientId: string };

async function findOpenQuote(em: EntityManager, owner: QuoteOwner, id: number, now: Date): Promise<QuoteEntity> {
  const quote = await em.findOne(Quote, { id, ...owner }, { disableIdentityMap: true });
  if (!quote) {
    const detail = translatable`This application has not requested quote ${{ id }} for this customer.`;
    throw createInvalidRequestProblem({ in: 'body', pointer: '#/quote_id', code: 'unknown_reference', detail });
  }
  const reason = describeEndOfQuote(quote, now);
  if (reason === undefined) return quote;
  throw createProblem('invalid_transition', {
    detail: translatable`Quote ${{ id }} cannot be approved: ${{ reason }}. Create a new quote.`,
  });
}

/** Returns the reason why the quote is no longer open, as a sentence fragment. */
function describeEndOfQuote({ convertedAt, canceledAt, expiresAt }: QuoteEntity, now: Date): TranslatableText | undefined {
  if (convertedAt) return translatable`it has already been used to place an order`;
  if (canceledAt) return translatable`it was canceled`;
  return expiresAt <= now ? translatable`it expired at ${{ at: expiresAt }}` : undefined;
}

async function assertQuoteNotSubmitted(em: EntityManager, quoteId: number, now: Date): Promise<void> {
  const approval = await em.findOne(Approval, { quote: quoteId, canceledAt: null }, { disableIdentityMap: true });
  if (!approval) return;
  throw createProblem('conflict', {
    detail: [
      translatable`Approval of this quote has already been requested (approval ${{ id: approval.id }}).`,
      describeState(approval, now),
      'To place another order, create a new quote.',
    ],
  });
}

function describeState({ declinedAt, approvedAt, expiresAt }: InferEntity<typeof Approval>, now: Date): ProblemDetail {
  if (declinedAt) return 'The customer declined the request.';
  if (expiresAt <= now) return approvedAt ? 'The customer approved the request.' : 'The request is pending.';
  return approvedAt
    ? translatable`The customer approved the request, and the approval is valid until ${{ at: expiresAt }}.`
    : translatable`The request is pending and expires at ${{ at: expiresAt }}.`;
}

async function assertFewRequests(em: EntityManager, grantId: string, now: Date): Promise<void> {
  const pending = await em.count(Approval, { $and: [{ grantId }, buildApprovalStatusFilter(['pending'], now)] });
  if (pending >= maxPendingApprovalsPerGrant) {
    const detail = translatable`The maximum of ${{ pending }} pending requests has been reached. Wait for a decision, or cancel a request.`;
    throw createProblem('too_many_approvals', { detail });
  }
  const today = await em.count(Approval, { grantId, createdAt: { $gt: new Date(now.getTime() - dayMs) } });
  if (today < maxApprovalRequestsPerGrantIn24Hours) return;
  const detail = translatable`This application has requested the maximum of ${{ count: today }} approvals in the last 24 hours. Try again later.`;
  throw createProblem('too_many_approvals', { detail });
}
