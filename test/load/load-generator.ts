import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningShop } from './running-server.ts';

/** One answer: its status (0: none), and how long it took. */
export type Timed = { readonly status: number; readonly ms: number; readonly atMs: number };

const agent = new Agent({ keepAlive: true, maxSockets: 2_000 });

/** Of five requests four read, and one places an order. */
export function oneRequest({ server, token, productId, userId }: RunningShop, at: number): Promise<Timed> {
  const order = { user_id: userId, items: [{ product_id: productId, quantity: 1 }], delivery: { method: 'free', recipient_name: 'Load' } };
  return at % 5 === 0
    ? timed(`${server.url}/api/v1/orders`, token, JSON.stringify(order))
    : timed(`${server.url}/api/v1/products/${productId}`, token);
}

function timed(url: string, token: string, body?: string): Promise<Timed> {
  const { promise, resolve } = Promise.withResolvers<Timed>();
  const atMs = performance.now();
  const done = (status: number): void => resolve({ status, ms: performance.now() - atMs, atMs });
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
  };
  const sent = request(url, { method: body === undefined ? 'GET' : 'POST', agent, headers, timeout: 30_000 }, (answer) => {
    answer.resume().on('end', () => done(answer.statusCode ?? 0));
  });
  sent.on('error', () => done(0)).on('timeout', () => sent.destroy());
  sent.end(body);
  return promise;
}

/** Each begins when the one before it is answered, on so many connections: as many as the server can do. */
export async function closedLoop(shop: RunningShop, connections: number, ms: number): Promise<Timed[]> {
  const end = performance.now() + ms;
  const all: Timed[] = [];
  await Promise.all(
    Array.from({ length: connections }, async (_, which) => {
      for (let at = which; performance.now() < end; at += 1) all.push(await oneRequest(shop, at));
    }),
  );
  return all;
}

/** So many a second, whether the ones before are answered or not: as callers come who know nothing of each other. */
export async function openLoop(shop: RunningShop, perSecond: number, ms: number): Promise<Timed[]> {
  const begun = performance.now();
  const all: Promise<Timed>[] = [];
  for (let at = 0; performance.now() - begun < ms;) {
    const due = ((performance.now() - begun) / 1000) * perSecond;
    while (at < due) all.push(oneRequest(shop, (at += 1)));
    await sleep(1);
  }
  return Promise.all(all);
}

export const percentile = (answers: readonly Timed[], share: number): number =>
  answers.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.min(answers.length - 1, Math.floor(answers.length * share))] ?? Number.NaN;

export const stopGenerator = (): void => agent.destroy();
