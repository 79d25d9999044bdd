import { setTimeout as sleep } from 'node:timers/promises';
import { AbortError, ApiError, ConnectionError, DecodeError, TimeoutError, type Client } from '@mandate/client-sdk';
import type { EventTypeFilter, MandateEvent } from '@mandate/client-sdk/webhooks';
import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import type { Settings } from '../settings/settings.ts';

/** The server holds the answer back this long while nothing happens. */
const waitSeconds = 25;
const patience = { firstMs: 100, lastMs: 2_000 };

export type Following = { readonly after?: number | undefined; readonly type?: readonly EventTypeFilter[] | undefined };

/** `--after`: the number of an event. */
export function afterOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^(evt_)?\d{1,15}$/.test(text)) return Number(text.replace('evt_', ''));
  throw new CommandFailure(exitCodes.usage, 'usage', `--after is the number of an event, not ${JSON.stringify(text)}`);
}

/**
 * Events as they happen, from now on or after the one given, until Ctrl-C. A server that is gone is waited for, and what happened
 * meanwhile follows: the next request goes on where the last one that was answered ended.
 */
export async function* patientEvents(
  io: Io,
  { quiet }: Settings,
  client: Client,
  { after, type }: Following,
): AsyncGenerator<MandateEvent, void, undefined> {
  const signal = io.interrupted;
  let at = after;
  let restMs = 0;
  while (!signal.aborted) {
    try {
      const query = at === undefined ? { limit: 1 } : { after: at, wait: waitSeconds, limit: 100, ...(type && { type: [...type] }) };
      const page = await client.events.list(query, { signal, timeoutMs: (waitSeconds + 15) * 1000 });
      if (restMs > 0 && !quiet) io.stderr.write('reconnected\n');
      restMs = 0;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service says what belongs to which type
      if (at !== undefined) yield* page.data as MandateEvent[];
      at = at === undefined ? page.latest_id : page.next_after;
    } catch (error) {
      if (error instanceof AbortError) return;
      if (!passes(error)) throw error;
      if (restMs === 0 && !quiet) io.stderr.write('the service does not answer; waiting for it\n');
      restMs = Math.min(Math.max(restMs * 2, patience.firstMs), patience.lastMs);
      await sleep(restMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** What is over when the server is back. */
const passes = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  error instanceof DecodeError ||
  (error instanceof ApiError && (error.status >= 500 || error.status === 429));
