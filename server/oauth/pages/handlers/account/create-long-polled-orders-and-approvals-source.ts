import type { OrderSummary } from '@mandate/contract';
import {
  buildCustomerApprovalsFilter,
  buildApprovalStatusFilter,
  countPendingApprovalsOfUser,
} from '../../../../approvals/filter-find-and-lock-approvals.ts';
import type { ShownApproval } from '../../views/account/approval-pages.ts';
import { findNextApprovalExpiry, listApprovalIdsAndStatuses, listApprovalsWithStatus } from './approvals-with-status.ts';
import type { LongPolledContentSource } from './read-or-long-poll-content.ts';
import type { AccountRequest } from './signed-in-page-guards.ts';

type OrdersAndRequests = {
  /** The customer's orders, newest first. If there are older orders, the list contains one more order than the page shows. */
  readonly orders: readonly OrderSummary[];
  /** The newest approvals that are waiting for the customer's decision. */
  readonly requests: readonly ShownApproval[];
  /** Number of all approvals that are waiting for the customer's decision. */
  readonly requestCount: number;
};

const shownRequestsMax = 3;

/** Returns the functions that read the content of the live region on pages that list the customer's orders. */
export const createLongPolledOrdersAndApprovalsSource = (
  { context, account }: AccountRequest,
  { olderThan, limit }: { readonly olderThan?: number | undefined; readonly limit: number },
): LongPolledContentSource<OrdersAndRequests> => ({
  async read() {
    const { em, orders } = context;
    const now = new Date();
    const waiting = [buildCustomerApprovalsFilter(account.id), buildApprovalStatusFilter(['pending'], now)];
    return {
      orders: await orders.list(em, account.id, { olderThan, limit: limit + 1 }),
      requests: await listApprovalsWithStatus(em, waiting, shownRequestsMax),
      requestCount: await countPendingApprovalsOfUser(em, account.id, now),
    };
  },
  identify: ({ orders, requests, requestCount }) => [orders, listApprovalIdsAndStatuses(requests), requestCount],
  changesAt: ({ requests }) => findNextApprovalExpiry(requests),
});
