import { WaitTimeoutError } from '../core/errors.ts';
import { waitUnlessAborted } from '../core/retry-policy.ts';
import type { Approval } from '../generated/resources.gen.ts';

/** Options for `waitForApproval`. */
export type ApprovalWaitOptions = {
  /** Aborts the wait but does not cancel the approval. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum time to wait (default: until the approval expires). If this limit is exceeded, the call fails with `WaitTimeoutError`. */
  readonly maxWaitMs?: number | undefined;
};

type ApprovalSource = {
  readonly approvals: {
    get(id: number | string, query: { wait: number }, options: { signal?: AbortSignal | undefined }): PromiseLike<Approval>;
  };
};

/** Maximum wait in one request; must be less than the default request timeout. */
const waitSeconds = 25;
/**
 * Minimum time between two requests. Without this minimum, a server that is shutting down would receive many requests, because such a
 * server responds immediately.
 */
const minIntervalMs = 1000;

/**
 * Waits until the customer has decided, or until the approval has expired or been canceled. The service responds as soon as the status
 * changes.
 *
 * ```ts
 * const { id } = await mandate.approvals.create({ quote_id: quote.id });
 * const { status } = await waitForApproval(mandate, id);
 * if (status === 'approved') await mandate.orders.create({ quote_id: quote.id });
 * ```
 */
export async function waitForApproval(
  client: ApprovalSource,
  id: number | string,
  { signal, maxWaitMs = Infinity }: ApprovalWaitOptions = {},
): Promise<Approval> {
  const until = Date.now() + maxWaitMs;
  for (;;) {
    const sentAt = Date.now();
    const leftSeconds = Math.max(0, Math.floor((until - sentAt) / 1000));
    const approval = await client.approvals.get(id, { wait: Math.min(waitSeconds, leftSeconds) }, { signal });
    if (approval.status !== 'pending') return approval;
    if (Date.now() + minIntervalMs > until)
      throw new WaitTimeoutError(`Approval ${id} is still pending after ${maxWaitMs / 1000} s`, undefined);
    await waitUnlessAborted(Math.max(0, sentAt + minIntervalMs - Date.now()), signal);
  }
}
