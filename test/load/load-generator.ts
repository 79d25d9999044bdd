import { setTimeout as sleep } from 'node:timers/promises';
import { Connections } from './connections.ts';
import type { RunningShop } from './running-server.ts';

/** One answer: its status (0: none), and how long it took. */
export type Timed = { readonly status: number; readonly ms: number; readonly atMs: number };

/** Callers who know nothing of each other. */
const callersMax = 1_000;

/** Of five requests four read, and one places an order. */
export async function oneRequest({ server, token, productId, userId }: RunningShop, connections: Connections, at: number): Promise<Timed> {
  const order = { user_id: userId, items: [{ product_id: productId, quantity: 1 }], delivery: { method: 'free', recipient_name: 'Load' } };
  const head = [`Host: ${new URL(server.url).host}`, `Authorization: Bearer ${token}`];
  const body = JSON.stringify(order);
  const asked =
    at % 5 === 0
      ? ['POST /api/v1/orders HTTP/1.1', ...head, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', body]
      : [`GET /api/v1/products/${productId} HTTP/1.1`, ...head, '', ''];
  const atMs = performance.now();
  const { status } = await connections.send(asked.join('\r\n'));
  return { status, ms: performance.now() - atMs, atMs };
}

/** Each begins when the one before it is answered, by so many clients: as many as the server can do. */
export async function closedLoop(shop: RunningShop, clients: number, ms: number): Promise<Timed[]> {
  using connections = new Connections(shop.server.url, clients);
  const end = performance.now() + ms;
  const all: Timed[] = [];
  await Promise.all(
    Array.from({ length: clients }, async (_, which) => {
      for (let at = which; performance.now() < end; at += 1) all.push(await oneRequest(shop, connections, at));
    }),
  );
  return all;
}

/** So many a second, whether the ones before are answered or not: as callers come who know nothing of each other. */
export async function openLoop(shop: RunningShop, perSecond: number, ms: number): Promise<Timed[]> {
  using connections = new Connections(shop.server.url, callersMax);
  await connections.openAll();
  const begun = performance.now();
  const all: Promise<Timed>[] = [];
  for (let at = 0; performance.now() - begun < ms;) {
    const due = ((performance.now() - begun) / 1000) * perSecond;
    while (at < due) all.push(oneRequest(shop, connections, (at += 1)));
    await sleep(1);
  }
  return await Promise.all(all);
}

export const percentile = (answers: readonly Pick<Timed, 'ms'>[], share: number): number =>
  answers.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.min(answers.length - 1, Math.floor(answers.length * share))] ?? Number.NaN;
