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
      return { status: 200, body: await follow({ em, newEvents, res, principal: principalOf(req) }, query) };
    },

    get: async ({ params: { event_id: id }, req }) => {
      const row = await findEvent(em, principalOf(req), id);
      if (!row) throw problem('not_found', { detail: `Event ${id} was not found. Events are kept for ${eventDays} days.` });
      return { status: 200, body: toEvent(row) };
    },
  });

type Follower = { readonly em: Em; readonly newEvents: NewEvents; readonly res: Response; readonly principal: Principal };
type Query = EventFilters & { readonly after?: number | undefined; readonly wait: number; readonly limit: number };

/** What there is, or, when that is nothing, what there is as soon as something happens. */
async function follow({ em, newEvents, res, principal }: Follower, { after = 0, wait, limit, ...filters }: Query): Promise<EventPage> {
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  const until = performance.now() + wait * 1000;
  for (let from = after; ;) {
    const found = await listEvents(em, principal, from, filters, limit);
    if (from === after) refuseLost(after, found);
    const leftMs = until - performance.now();
    if (found.events.length > 0 || leftMs <= 0 || gone.signal.aborted || newEvents.stopped) return pageOf(found, limit);
    // What has been looked at need not be looked at again.
    from = found.lastSeq;
    await resting(res, newEvents.wait(from, leftMs, gone.signal));
  }
}

function pageOf({ events, lastSeq }: Found, limit: number): EventPage {
  const shown = events.slice(0, limit);
  const more = events.length > limit;
  return { data: shown.map(toEvent), has_more: more, next_after: more ? (shown.at(-1)?.seq ?? lastSeq) : lastSeq, latest_id: lastSeq };
}

/** Whoever goes on after an event whose successors are no longer kept would miss them without a word; and nobody can have seen what has yet to come. */
function refuseLost(after: number, { lastSeq, sweptSeq }: Found): void {
  if (after > lastSeq) {
    const detail = `There is no such event yet: the newest one is ${lastSeq}.`;
    throw invalidRequest({ in: 'query', parameter: 'after', code: 'out_of_range', detail });
  }
  if (after === 0 || after >= sweptSeq) return;
  throw problem('gone', {
    detail: `Events are kept for ${eventDays} days, and those up to ${sweptSeq} are gone. Begin again without \`after\`, and read what matters to you anew.`,
  });
}
