import type { Event, EventsListQuery } from '../generated/resources.gen.ts';

/** An event type, or all types of a subject (`order.*`). */
export type EventTypeFilter = NonNullable<EventsListQuery['type']>[number];

/** All event types that this SDK version declares. More event types may be added. */
export type EventType = Exclude<EventTypeFilter, `${string}.*`>;

/** An event of the given type, with a typed resource: `EventOf<'order.paid'>`. */
export type EventOf<Type extends EventType> = WithType<Event, Type>;
type WithType<AnyEvent extends Event, Type> = AnyEvent extends unknown
  ? Type extends AnyEvent['type']
    ? Omit<AnyEvent, 'type'> & { readonly type: Type }
    : never
  : never;

/** Any event. `event.type` determines the type of `event.data.object`. */
export type MandateEvent = Event;

type EventIterationOptions = {
  /** Reads only events that follow the event with this ID (default: all stored events). Store `event.id` of the last processed event. */
  readonly after?: number | undefined;
  readonly type?: readonly EventTypeFilter[] | undefined;
  /** Signal that ends the iteration. */
  readonly signal?: AbortSignal | undefined;
};

type Page = { readonly data: Event[]; readonly next_after: number; readonly has_more: boolean };
type EventSource = {
  readonly events: {
    list(
      query: { after?: number | undefined; wait?: number; limit: number; type?: EventTypeFilter[] | undefined },
      options: { signal?: AbortSignal | undefined },
    ): PromiseLike<Page>;
  };
};

const limit = 100;
const waitSeconds = 25;

/**
 * Iterates over the stored events in order, and ends after the newest one.
 *
 * ```ts
 * for await (const event of iterateEvents(mandate, { after })) after = event.id;
 * ```
 *
 * A 410 response means that the events that follow `after` are no longer stored.
 */
export async function* iterateEvents(
  client: EventSource,
  { after, type, signal }: EventIterationOptions = {},
): AsyncGenerator<MandateEvent, void, undefined> {
  for (let cursor = after, hasMore = true; hasMore;) {
    if (signal?.aborted) return;
    const page = await client.events.list({ after: cursor, limit, ...(type && { type: [...type] }) }, { signal });
    yield* page.data;
    [cursor, hasMore] = [page.next_after, page.has_more];
  }
}

/**
 * Iterates over the stored events and then over new events as they occur, in order and without gaps, until the caller ends the iteration.
 *
 * ```ts
 * for await (const event of followEvents(mandate, { after })) after = event.id;
 * ```
 *
 * An error ends the iteration; restart it after the last processed event. A 410 response means that the events that follow `after` are no
 * longer stored.
 */
export async function* followEvents(
  client: EventSource,
  { after, type, signal }: EventIterationOptions = {},
): AsyncGenerator<MandateEvent, void, undefined> {
  for (let cursor = after; ;) {
    if (signal?.aborted) return;
    const page = await client.events.list({ after: cursor, wait: waitSeconds, limit, ...(type && { type: [...type] }) }, { signal });
    yield* page.data;
    cursor = page.next_after;
  }
}
