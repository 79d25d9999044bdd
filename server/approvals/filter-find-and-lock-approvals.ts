import { LockMode, type FilterQuery } from '@mikro-orm/core';
import type { ApprovalStatus } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { getClientIdIfRestrictedToOwnOrders } from '../http/request/get-client-id-if-restricted-to-own-orders.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { joinApprovalsWithQuotesAndAppNames, type ApprovalWithQuote } from './approval-from-entity.ts';
import { Approval, type ApprovalEntity } from './approval-and-second-factor-amount.entity.ts';

type Filter = FilterQuery<ApprovalEntity>;

/** Returns the filter for all of a customer's approvals or, if `clientId` is given, only for those that this application requested. */
export const buildCustomerApprovalsFilter = (userId: number, clientId?: string): Filter => ({
  user: userId,
  ...(clientId !== undefined && { clientId }),
});

/**
 * Returns the filter for the approvals that the principal may read. A principal can read its own user's approvals. An application without
 * the scope to read orders, or with access only to the orders that it places, can read only the approvals that it requested.
 */
export function buildReadableApprovalsFilter(principal: Principal): Filter {
  const readsAll = canUseScope(principal, 'orders.read') || canUseScope(principal, 'approvals.decide');
  const clientId = getClientIdIfRestrictedToOwnOrders(principal) ?? (readsAll ? undefined : principal.clientId);
  return buildCustomerApprovalsFilter(principal.user?.id ?? 0, clientId);
}

/** Returns the filter for the approvals of one customer or all customers, for principals that can manage orders. */
export function buildApprovalsFilterForStaff(principal: Principal, userId: number | undefined): Filter {
  const clientId = getClientIdIfRestrictedToOwnOrders(principal);
  return { ...(userId !== undefined && { user: userId }), ...(clientId !== undefined && { clientId }) };
}

/** Returns the filter for approvals with any of these statuses, as defined by `deriveApprovalStatus`. */
export function buildApprovalStatusFilter(statuses: readonly ApprovalStatus[], now: Date): Filter {
  const isUndecided = { usedAt: null, declinedAt: null };
  const isQuoteOpen = { canceledAt: null, convertedAt: null };
  const isOpen = { ...isUndecided, canceledAt: null, quote: isQuoteOpen };
  const filters: Record<ApprovalStatus, Filter> = {
    used: { usedAt: { $ne: null } },
    declined: { declinedAt: { $ne: null } },
    canceled: {
      ...isUndecided,
      $or: [{ canceledAt: { $ne: null } }, { quote: { canceledAt: { $ne: null } } }, { quote: { convertedAt: { $ne: null } } }],
    },
    expired: { ...isOpen, expiresAt: { $lte: now } },
    approved: { ...isOpen, expiresAt: { $gt: now }, approvedAt: { $ne: null } },
    // The last condition is redundant, because an expiration event is recorded only after the approval has expired. The condition lets
    // PostgreSQL use the index on open approvals.
    pending: { ...isOpen, expiresAt: { $gt: now }, approvedAt: null, expirationReportedAt: null },
  };
  return { $or: statuses.map((status) => filters[status]) };
}

/** Returns the number of approvals that are waiting for the user's decision. */
export const countPendingApprovalsOfUser = (em: EntityManager, userId: number, now: Date): Promise<number> =>
  em.count(Approval, { $and: [buildCustomerApprovalsFilter(userId), buildApprovalStatusFilter(['pending'], now)] });

/** Lists approvals with their quotes, newest first. */
export async function listApprovals(em: EntityManager, filters: readonly Filter[], limit: number): Promise<ApprovalWithQuote[]> {
  const fork = em.fork({ keepTransactionContext: true });
  const found = await fork.find(Approval, { $and: [...filters] }, { orderBy: { id: 'desc' }, limit, populate: ['quote'] });
  return joinApprovalsWithQuotesAndAppNames(fork, found);
}

/** Returns an approval with its quote, or undefined if the filter excludes it. */
export async function findApproval(em: EntityManager, filter: Filter, id: number): Promise<ApprovalWithQuote | undefined> {
  const [found] = await listApprovals(em, [filter, { id }], 1);
  return found;
}

/** Like `findApproval`, but locks the approval, so that only one of several concurrent requests can change its status. */
export async function lockApproval(em: EntityManager, filter: Filter, id: number): Promise<ApprovalWithQuote | undefined> {
  const lock = { fields: ['id'], lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const;
  const locked = await em.findOne(Approval, { $and: [filter, { id }] }, lock);
  return locked ? findApproval(em, filter, id) : undefined;
}

export const createApprovalNotFoundProblem = (id: number) =>
  createProblem('not_found', { detail: translatable`Approval ${{ id }} was not found.` });
