import { setTimeout as sleep } from 'node:timers/promises';
import { AbortError, ApiError, ConnectionError, DecodeError, TimeoutError, type Client } from '@mandate/client-sdk';
import type { EventTypeFilter, MandateEvent } from '@mandate/client-sdk/webhooks';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import type { Settings } from '../settings/resolve-settings.ts';

/** Maximum duration of a long poll, in seconds. If there are no events, the server delays its response for up to this time. */
const waitSeconds = 25;
const retryDelay = { minMs: 100, maxMs: 2_000 };

export type EventPollOptions = { readonly after?: number | undefined; readonly type?: readonly EventTypeFilter[] | undefined };

/** Parses the event ID that was passed with `--after`. */
export function parseAfterEventIdFlag(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^(evt_)?\d{1,15}$/.test(text)) return Number(text.replace('evt_', ''));
  throw new CommandError(exitCodes.usage, 'usage', `--after must be an event ID, not ${JSON.stringify(text)}`);
}

/**
 * Yields events as they occur, starting now or after the given event, until Ctrl-C. If the service is unreachable, retries, and then
 * continues after the last received event, so that no event is missed.
 */
export async function* pollEvents(
  io: CliEnvironment,
  { quiet }: Settings,
  client: Client,
  { after, type }: EventPollOptions,
): AsyncGenerator<MandateEvent, void, undefined> {
  const signal = io.interrupted;
  let cursor = after;
  let delayMs = 0;
  while (!signal.aborted) {
    try {
      const query =
        cursor === undefined ? { limit: 1 } : { after: cursor, wait: waitSeconds, limit: 100, ...(type && { type: [...type] }) };
      const page = await client.events.list(query, { signal, timeoutMs: (waitSeconds + 15) * 1000 });
      if (delayMs > 0 && !quiet) io.stderr.write('Reconnected.\n');
      delayMs = 0;
      if (cursor !== undefined) yield* page.data;
      cursor = cursor === undefined ? page.latest_id : page.next_after;
    } catch (error) {
      if (error instanceof AbortError) return;
      if (!isTemporary(error)) throw error;
      if (delayMs === 0 && !quiet) io.stderr.write('The service is not responding. Retrying ...\n');
      delayMs = Math.min(Math.max(delayMs * 2, retryDelay.minMs), retryDelay.maxMs);
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Returns whether an error is temporary, so that the request can be retried. */
const isTemporary = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  error instanceof DecodeError ||
  (error instanceof ApiError && (error.status >= 500 || error.status === 429));
