import { setTimeout as sleep } from 'node:timers/promises';
import { Connections, type Received } from '../../load/connections.ts';
import { serializeRequest, type Traffic, type ValueLocation } from './traffic.ts';

/** Result of a single request, or of two requests that count as one. */
export type TimedRequest = { readonly ok: boolean; readonly ms: number };

/** Sends requests on `callers` connections. Each connection waits for a response before its next request. */
export async function runClosedLoop(origin: string, traffic: Traffic, callers: number, seconds: number): Promise<TimedRequest[]> {
  const end = performance.now() + seconds * 1000;
  const all: TimedRequest[] = [];
  using sender = new RequestSender(origin, traffic, callers);
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let startedAt = performance.now(); startedAt < end; startedAt = performance.now())
        all.push(await sender.sendWhenIdle(startedAt));
    }),
  );
  return all;
}

/** Interval at which the generator sends due requests. */
const tickMs = 1;

/**
 * Sends `perSecond` requests each second, regardless of the response times. Latency is measured from the tick at which a request was due,
 * so that neither a stalled server nor a late generator reduces the measured latency.
 */
export async function runAtConstantRate(
  origin: string,
  traffic: Traffic,
  callers: number,
  seconds: number,
  perSecond: number,
): Promise<TimedRequest[]> {
  const all: Promise<TimedRequest>[] = [];
  using sender = new RequestSender(origin, traffic, callers);
  await sender.open();
  const startedAt = performance.now();
  const total = Math.max(1, Math.floor(seconds * perSecond));
  while (all.length < total) {
    const elapsed = performance.now() - startedAt;
    for (; all.length < total && (all.length / perSecond) * 1000 <= elapsed;)
      all.push(sender.sendWhenIdle(startedAt + Math.ceil(((all.length / perSecond) * 1000) / tickMs) * tickMs));
    await sleep(tickMs);
  }
  return await Promise.all(all);
}

class RequestSender {
  readonly #traffic: Traffic;
  readonly #host: string;
  readonly #connections: Connections;
  /** Values from responses, except those already used in requests. */
  readonly #ready: { readonly value: string; readonly customer: string }[] = [];
  readonly #waiting: (() => void)[] = [];
  #idle: number;
  #firstRequests = 0;

  constructor(origin: string, traffic: Traffic, callers: number) {
    this.#traffic = traffic;
    this.#host = new URL(origin).host;
    this.#connections = new Connections(origin, callers);
    this.#idle = callers;
  }

  open(): Promise<void> {
    return this.#connections.openAll();
  }

  [Symbol.dispose](): void {
    this.#connections[Symbol.dispose]();
  }

  /**
   * Waits for an idle connection and sends a request. Chooses the request after the wait, because the request may need a value from a
   * response.
   */
  async sendWhenIdle(dueAt: number): Promise<TimedRequest> {
    if (this.#idle > 0) this.#idle -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const ok = await this.#exchange();
    const resume = this.#waiting.shift();
    if (resume) resume();
    else this.#idle += 1;
    return { ok, ms: Math.max(0, performance.now() - dueAt) };
  }

  async #exchange(): Promise<boolean> {
    const { first, distinct, next } = this.#traffic;
    const sendsFirst = next?.countsAsOne === false && this.#firstRequests < (distinct ?? 0);
    const followUp = sendsFirst ? undefined : this.#ready.shift();
    if (!followUp) this.#firstRequests += 1;
    const response = await this.#send(followUp && next ? next.createRequest(followUp.value, followUp.customer) : first());
    if (!next) return isSuccess(response);
    const value = extractValue(response, next.valueLocation);
    const customer = next.customers ? extractValue(response, next.customers.location) : '';
    const isComplete = value !== undefined && customer !== undefined;
    if (next.countsAsOne) return isComplete && isSuccess(await this.#send(next.createRequest(value, customer)));
    if (isComplete) this.#ready.push({ value, customer });
    return isSuccess(response);
  }

  #send(request: Parameters<typeof serializeRequest>[0]): Promise<Received> {
    return this.#connections.send(serializeRequest(request, this.#host));
  }
}

const isSuccess = ({ status }: Received): boolean => status >= 200 && status < 300;

function extractValue({ bytes }: Received, valueLocation: ValueLocation): string | undefined {
  const message = bytes.toString('latin1');
  const text =
    valueLocation.in === 'body' ? message.slice(message.indexOf('\r\n\r\n')) : (/\r\nlocation: ([^\r]*)/i.exec(message)?.[1] ?? '');
  const from = text.indexOf(valueLocation.after);
  if (from === -1) return undefined;
  const rest = text.slice(from + valueLocation.after.length);
  const end = rest.indexOf(valueLocation.until);
  return end === -1 ? rest : rest.slice(0, end);
}
