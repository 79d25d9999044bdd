import { deriveApprovalStatus } from '../../../../approvals/approval-from-entity.ts';
import { listApprovals } from '../../../../approvals/filter-find-and-lock-approvals.ts';
import type { ShownApproval } from '../../views/account/approval-pages.ts';

/** Reads approvals with their current status, newest first. */
export async function listApprovalsWithStatus(...given: Parameters<typeof listApprovals>): Promise<ShownApproval[]> {
  const found = await listApprovals(...given);
  return found.map((approval) => ({ ...approval, status: deriveApprovalStatus(approval, new Date()) }));
}

/** Returns the IDs and statuses of approvals. The returned value changes whenever the page must show different approvals or statuses. */
export const listApprovalIdsAndStatuses = (shown: readonly ShownApproval[]): unknown =>
  shown.map(({ approval: { id }, status }) => [id, status]);

/** Returns the time at which the first of these approvals expires, or undefined if none of them can expire. */
export function findNextApprovalExpiry(shown: readonly ShownApproval[]): Date | undefined {
  const open = shown.filter(({ status }) => status === 'pending' || status === 'approved');
  return open.map(({ approval }) => approval.expiresAt).toSorted((a, b) => a.getTime() - b.getTime())[0];
}
