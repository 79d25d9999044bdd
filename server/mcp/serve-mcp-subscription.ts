import { formatResourceUri } from '@mandate/contract/tools';
import { createMcpHandler, type AuthInfo, type McpServerFactory, type ServerEventBus } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Functions that read the events visible to the caller, and that check the caller's authorization. */
export type EventSource = {
  /** Key that identifies the caller, so that the number of its subscriptions can be limited. */
  readonly callerKey: string;
  /** Returns the response body of `GET /events` with this query, or `undefined` if the API rejected the request. */
  readonly listEvents: (query: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Returns whether the caller's token is still valid and has the same permissions. */
  readonly isStillAuthorized: () => Promise<boolean>;
};

const listenRequest = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.literal('subscriptions/listen'),
  params: z.object({ notifications: z.object({ resourceSubscriptions: z.array(z.string()).min(1) }) }),
});

/** Returns the ID of a message that subscribes to resources (MCP 2026-07-28), or `undefined` for any other message. */
export function subscriptionRequestIdFromBody(body: Buffer): string | number | undefined {
  // This check avoids parsing most messages.
  if (!body.includes('subscriptions/listen')) return undefined;
  try {
    return listenRequest.safeParse(JSON.parse(body.toString())).data?.id;
  } catch {
    return undefined; // the MCP request handler reports invalid JSON
  }
}

const eventPage = z.object({
  data: z.array(z.object({ subject: z.object({ type: z.string(), id: z.number() }) })),
  next_after: z.number(),
  latest_id: z.number(),
});

const waitSeconds = 25;
const maxSubscriptionsPerCaller = 4;
const maxSubscriptions = 500;

/**
 * Serves subscriptions to resources. A subscription is one response that stays open, so the process that receives the request can serve the
 * subscription without a session. The process reads the event feed on behalf of the caller, like an API client.
 */
export class McpSubscriptions {
  readonly #openByCaller = new Map<string, number>();
  #openCount = 0;

  /**
   * Responds with a stream that ends when the token expires or loses permissions, when the client disconnects, or when the server stops.
   */
  async serve(
    request: Request,
    id: string | number,
    authInfo: AuthInfo,
    factory: McpServerFactory,
    source: EventSource,
  ): Promise<Response> {
    const open = this.#openByCaller.get(source.callerKey) ?? 0;
    if (open >= maxSubscriptionsPerCaller || this.#openCount >= maxSubscriptions)
      return rejectSubscription(id, 'Subscription limit reached. Close another subscription first.');
    const disconnected = new AbortController();
    const start = await readEvents(source, 'limit=1', disconnected.signal);
    if (!start) return rejectSubscription(id, 'The event feed is not available.');
    const bus: ServerEventBus = {
      publish: () => undefined,
      subscribe: (listener) => {
        this.#count(source.callerKey, 1);
        const publish = (uri: string): void => listener({ kind: 'resource_updated', uri });
        // Closing the handler ends the stream with a result.
        const followed = followEvents(source, start.latest_id, publish, disconnected.signal).catch(() => undefined);
        void followed.then(() => handler.close());
        return () => {
          this.#count(source.callerKey, -1);
          disconnected.abort();
        };
      },
    };
    const handler = createMcpHandler(factory, { bus });
    return handler.fetch(request, { authInfo });
  }

  #count(callerKey: string, change: 1 | -1): void {
    this.#openCount += change;
    const open = (this.#openByCaller.get(callerKey) ?? 0) + change;
    if (open > 0) this.#openByCaller.set(callerKey, open);
    else this.#openByCaller.delete(callerKey);
  }
}

const rejectSubscription = (id: string | number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id, error: { code: -32_603, message } });

async function readEvents(
  { listEvents }: EventSource,
  query: string,
  signal: AbortSignal,
): Promise<z.output<typeof eventPage> | undefined> {
  const text = await listEvents(query, signal);
  return text === undefined ? undefined : eventPage.parse(JSON.parse(text));
}

/** Publishes the URI of each order and product that changes, until the signal is aborted or the caller is no longer authorized. */
async function followEvents(source: EventSource, start: number, publish: (uri: string) => void, signal: AbortSignal): Promise<void> {
  for (let after = start; !signal.aborted;) {
    const startedAt = performance.now();
    const page = await readEvents(source, `after=${after}&wait=${waitSeconds}&limit=100`, signal);
    if (!page || signal.aborted || !(await source.isStillAuthorized())) return;
    for (const { subject } of page.data)
      if (subject.type === 'order' || subject.type === 'product') publish(formatResourceUri(subject.type, subject.id));
    // An early API response without events means that the server is stopping.
    if (page.data.length === 0 && performance.now() - startedAt < (waitSeconds - 1) * 1000) return;
    after = page.next_after;
  }
}
