import type {
  ConnectedApp,
  Event,
  EventsListQuery,
  Order,
  Payment,
  Product,
  Refund,
  Shipment,
  Task,
  User,
  WebhookEndpoint,
} from '../generated/resources.gen.ts';

/** What happens to which kind of thing. */
type Objects = {
  user: User;
  product: Product;
  order: Order;
  payment: Payment;
  refund: Refund;
  shipment: Shipment;
  task: Task;
  grant: ConnectedApp;
  webhook_endpoint: WebhookEndpoint;
};

/** Selects events: a type, or every type of a subject (`order.*`). */
export type EventTypeFilter = NonNullable<EventsListQuery['type']>[number];

/** Every type of event there is by now; more are added in time. */
export type EventType = Exclude<EventTypeFilter, `${string}.*`>;

/** An event of one type, with what it happened to: `EventOf<'order.paid'>`. */
export type EventOf<Type extends EventType> = Type extends `${infer Kind extends keyof Objects}.${string}`
  ? Omit<Event, 'type' | 'data'> & { readonly type: Type; readonly data: { readonly object: Objects[Kind] } }
  : never;

/** Any event; `event.type` tells which, and with it what `event.data.object` is. */
export type MandateEvent = { [Type in EventType]: EventOf<Type> }[EventType];

type FollowOptions = {
  /** The event to go on after; from the oldest that is kept when left out. Keep `event.id` of the last one you have dealt with. */
  readonly after?: number | undefined;
  readonly type?: readonly EventTypeFilter[] | undefined;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
};

type Page = { readonly data: Event[]; readonly next_after: number };
type EventSource = {
  readonly events: {
    list(
      query: { after?: number | undefined; wait: number; limit: number; type?: EventTypeFilter[] | undefined },
      options: { signal?: AbortSignal | undefined },
    ): PromiseLike<Page>;
  };
};

const waitSeconds = 25;

/**
 * What happens, as it happens, in order and without a gap, for as long as you take it.
 *
 * ```ts
 * for await (const event of followEvents(mandate, { after })) after = event.id;
 * ```
 *
 * A failure ends it: begin again after the last event. One that was answered 410 went on after what is no longer kept.
 */
export async function* followEvents(
  client: EventSource,
  { after, type, signal }: FollowOptions = {},
): AsyncGenerator<MandateEvent, void, undefined> {
  for (let at = after; ;) {
    if (signal?.aborted) return;
    const page = await client.events.list({ after: at, wait: waitSeconds, limit: 100, ...(type && { type: [...type] }) }, { signal });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service says what belongs to which type
    yield* page.data as MandateEvent[];
    at = page.next_after;
  }
}
