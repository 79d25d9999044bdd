import { setTimeout as sleep } from 'node:timers/promises';
import { Connections } from './connections.ts';
import type { RunningShop } from './running-shop.ts';

/** Status (0: no response), duration and send time of a request. */
export type TimedResponse = { readonly status: number; readonly ms: number; readonly atMs: number };

/** Maximum number of concurrent clients. */
const callersMax = 1_000;

/** Sends one request. Four out of five requests read a product, and the fifth places an order. */
export async function sendMixedRequest(
  { server, token, productId, userId }: RunningShop,
  connections: Connections,
  at: number,
): Promise<TimedResponse> {
  const order = { user_id: userId, items: [{ product_id: productId, quantity: 1 }], delivery: { method: 'free', recipient_name: 'Load' } };
  const head = [`Host: ${new URL(server.url).host}`, `Authorization: Bearer ${token}`];
  const body = JSON.stringify(order);
  const pending =
    at % 5 === 0
      ? ['POST /api/v1/orders HTTP/1.1', ...head, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', body]
      : [`GET /api/v1/products/${productId} HTTP/1.1`, ...head, '', ''];
  const atMs = performance.now();
  const { status } = await connections.send(pending.join('\r\n'));
  return { status, ms: performance.now() - atMs, atMs };
}

/** Measures the maximum throughput: each client sends its next request after receiving the previous response. */
export async function runClosedLoop(shop: RunningShop, clients: number, ms: number): Promise<TimedResponse[]> {
  using connections = new Connections(shop.server.url, clients);
  const end = performance.now() + ms;
  const all: TimedResponse[] = [];
  await Promise.all(
    Array.from({ length: clients }, async (_, which) => {
      for (let at = which; performance.now() < end; at += 1) all.push(await sendMixedRequest(shop, connections, at));
    }),
  );
  return all;
}

/** Sends requests at a constant rate, regardless of the responses. */
export async function runAtConstantRate(shop: RunningShop, perSecond: number, ms: number): Promise<TimedResponse[]> {
  using connections = new Connections(shop.server.url, callersMax);
  await connections.openAll();
  const startedAt = performance.now();
  const all: Promise<TimedResponse>[] = [];
  for (let at = 0; performance.now() - startedAt < ms;) {
    const due = ((performance.now() - startedAt) / 1000) * perSecond;
    while (at < due) all.push(sendMixedRequest(shop, connections, (at += 1)));
    await sleep(1);
  }
  return await Promise.all(all);
}

export const percentile = (responses: readonly Pick<TimedResponse, 'ms'>[], share: number): number =>
  responses.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.min(responses.length - 1, Math.floor(responses.length * share))] ??
  Number.NaN;
