import { initServer } from '@ts-rest/express';
import type { Response } from 'express';
import { contract, eventRetentionDays, type EventPage } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { releaseLoadShedderSlotWhile } from '../http/server/load-shedder.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { eventFromRow } from './event-from-row.ts';
import { type EventFilters, findVisibleEvent, type EventListResult, listVisibleEventsAndSequenceState } from './list-visible-events.sql.ts';
import type { EventHandlerDependencies, EventLongPoller } from './event-long-poll.ts';

type Dependencies = HandlerDependencies & EventHandlerDependencies;

export const eventRoutes = (dependencies: Dependencies) =>
  initServer().router(contract.events, {
    list: (request) => handleListEvents(dependencies, request),
    get: (request) => handleGetEvent(dependencies, request),
  });

const handleListEvents: RouteHandler<typeof contract.events.list, Dependencies> = async ({ em, newEvents }, { query, req, res }) => {
  res.set('Cache-Control', 'no-store');
  return { status: 200, body: await pollEvents({ em, newEvents, res, principal: requirePrincipal(req) }, query) };
};

const handleGetEvent: RouteHandler<typeof contract.events.get, Dependencies> = async ({ em }, { params: { event_id: id }, req }) => {
  const row = await findVisibleEvent(em, requirePrincipal(req), id);
  if (!row)
    throw createProblem('not_found', {
      detail: translatable`Event ${{ id }} was not found. Events are kept for ${{ days: eventRetentionDays }} days.`,
    });
  return { status: 200, body: eventFromRow(row) };
};

type PollContext = {
  readonly em: EntityManager;
  readonly newEvents: EventLongPoller;
  readonly res: Response;
  readonly principal: Principal;
};
type PollQuery = EventFilters & { readonly after?: number | undefined; readonly wait: number; readonly limit: number };

/** Returns the events after a sequence number. If there are no such events, waits for the next event (long polling). */
async function pollEvents(
  { em, newEvents, res, principal }: PollContext,
  { after = 0, wait, limit, ...filters }: PollQuery,
): Promise<EventPage> {
  const disconnected = new AbortController();
  res.on('close', () => disconnected.abort());
  const until = performance.now() + wait * 1000;
  for (let from = after; ;) {
    const found = await listVisibleEventsAndSequenceState(em, principal, from, filters, limit);
    if (from === after) assertNoneLost(after, found);
    const leftMs = until - performance.now();
    if (found.events.length > 0 || leftMs <= 0 || disconnected.signal.aborted || newEvents.stopped) return toPage(found, limit);
    // The principal cannot see any event up to this number, so these events need not be read again.
    from = found.lastSeq;
    await releaseLoadShedderSlotWhile(res, newEvents.wait(from, leftMs, disconnected.signal));
  }
}

function toPage({ events, lastSeq }: EventListResult, limit: number): EventPage {
  const items = events.slice(0, limit);
  const more = events.length > limit;
  return { data: items.map(eventFromRow), has_more: more, next_after: more ? (items.at(-1)?.seq ?? lastSeq) : lastSeq, latest_id: lastSeq };
}

/** Rejects a start position that is in the future, or after which events have been deleted, because the client would miss events. */
function assertNoneLost(after: number, { lastSeq, sweptSeq }: EventListResult): void {
  if (after > lastSeq) {
    const detail = translatable`The event does not exist yet: the newest event is ${{ id: lastSeq }}.`;
    throw createInvalidRequestProblem({ in: 'query', parameter: 'after', code: 'out_of_range', detail });
  }
  if (after === 0 || after >= sweptSeq) return;
  throw createProblem('gone', {
    detail: translatable`Events are kept for ${{ days: eventRetentionDays }} days, and all events up to ${{ id: sweptSeq }} have been deleted. Start again without \`after\`, and read the current state of your resources.`,
  });
}
