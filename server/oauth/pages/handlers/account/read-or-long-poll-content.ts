import { z } from 'zod';
import { longPollUntilDoneOrTimeout } from '../../../../approvals/long-poll-until-done-or-timeout.ts';
import { sha256 } from '../../../../crypto/sha256.ts';
import type { AccountRequest } from './signed-in-page-guards.ts';

/** Query parameters that the page script sends to wait for a change. `seen` identifies the content that the page shows. */
const liveQuery = z.object({
  wait: z.coerce.number().int().min(0).max(25).catch(0),
  seen: z.string().max(100).catch(''),
});

/**
 * Minimum interval between two reads. Every event in the shop ends the wait. Without this interval, each open page would reload
 * its content continuously in a busy shop.
 */
const minReadIntervalMs = 1_000;

/** Functions that read a page's live region and detect when its content changes. */
export type LongPolledContentSource<Shown> = {
  readonly read: () => Promise<Shown>;
  /** Returns a JSON value that changes whenever the page must show different content. */
  readonly identify: (shown: Shown) => unknown;
  /** Returns the time at which the content changes even without an event (default: never). */
  readonly changesAt?: (shown: Shown) => Date | undefined;
};

/**
 * Reads the content of a page. If the page script requests a wait, first waits until the content differs from what the page shows.
 * `livePath` is the path that the script requests to wait for the next change.
 */
export async function readOrLongPollContent<Shown>(
  { context: { em, newEvents }, req, res }: AccountRequest,
  path: string,
  { read, identify, changesAt = () => undefined }: LongPolledContentSource<Shown>,
): Promise<{ readonly shown: Shown; readonly livePath: string }> {
  const { wait: seconds, seen } = liveQuery.parse(req.query);
  const fingerprint = (shown: Shown): string => sha256(JSON.stringify(identify(shown)), 'base64url').slice(0, 22);
  const isDone = (shown: Shown): boolean => fingerprint(shown) !== seen;
  const shown =
    seconds === 0
      ? await read()
      : await longPollUntilDoneOrTimeout({ em, newEvents, res, seconds, read, isDone, changesAt, minReadIntervalMs });
  return { shown, livePath: `${path}${path.includes('?') ? '&' : '?'}wait=25&seen=${fingerprint(shown)}` };
}
