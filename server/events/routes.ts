import { initServer } from '@ts-rest/express';
import type { Response } from 'express';
import { contract, eventDays, type EventPage } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { resting } from '../http/server/load-shedder.ts';
import type { Principal } from '../http/request/principal.ts';
import { invalidRequest, problem } from '../http/problem-details/problem.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { toEvent } from './event-rows.ts';
import { type EventFilters, findEvent, type Found, listEvents } from './list-events.ts';
import type { EventDeps, NewEvents } from './long-poll.ts';

export const eventRoutes = ({ em, newEvents }: ResourceDeps & EventDeps) =>
  initServer().router(contract.events, {
    list: async ({ query, req, res }) => {
      res.set('Cache-Control', 'no-store');
      return { status: 200, body: await pollEvents({ em, newEvents, res, principal: principalOf(req) }, query) };
    },

    get: async ({ params: { event_id: id }, req }) => {
      const row = await findEvent(em, principalOf(req), id);
      if (!row) throw problem('not_found', { detail: `Event ${id} was not found. Events are kept for ${eventDays} days.` });
      return { status: 200, body: toEvent(row) };
    },
  });

type PollContext = { readonly em: Em; readonly newEvents: NewEvents; readonly res: Response; readonly principal: Principal };
type PollQuery = EventFilters & { readonly after?: number | undefined; readonly wait: number; readonly limit: number };

/** Returns the events after a sequence number. If there are none, waits for the next ones (long polling). */
async function pollEvents(
  { em, newEvents, res, principal }: PollContext,
  { after = 0, wait, limit, ...filters }: PollQuery,
): Promise<EventPage> {
  const disconnected = new AbortController();
  res.on('close', () => disconnected.abort());
  const until = performance.now() + wait * 1000;
  for (let from = after; ;) {
    const found = await listEvents(em, principal, from, filters, limit);
    if (from === after) assertNoneLost(after, found);
    const leftMs = until - performance.now();
    if (found.events.length > 0 || leftMs <= 0 || disconnected.signal.aborted || newEvents.stopped) return toPage(found, limit);
    // The events up to here are not visible to the principal and need not be read again.
    from = found.lastSeq;
    await resting(res, newEvents.wait(from, leftMs, disconnected.signal));
  }
}

function toPage({ events, lastSeq }: Found, limit: number): EventPage {
  const items = events.slice(0, limit);
  const more = events.length > limit;
  return { data: items.map(toEvent), has_more: more, next_after: more ? (items.at(-1)?.seq ?? lastSeq) : lastSeq, latest_id: lastSeq };
}

/** Rejects a start position whose following events have been deleted, because the client would miss them, and a position in the future. */
function assertNoneLost(after: number, { lastSeq, sweptSeq }: Found): void {
  if (after > lastSeq) {
    const detail = `The event does not exist yet: the newest event is ${lastSeq}.`;
    throw invalidRequest({ in: 'query', parameter: 'after', code: 'out_of_range', detail });
  }
  if (after === 0 || after >= sweptSeq) return;
  throw problem('gone', {
    detail: `Events are kept for ${eventDays} days, and those up to ${sweptSeq} have been deleted. Start again without \`after\`, and read the current state of your resources.`,
  });
}
