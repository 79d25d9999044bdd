import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { closedLoop, constantRate } from './node-load-generator.ts';
import type { Traffic } from './traffic.ts';
import { fireWrk, hasWrk } from './wrk.ts';

/** Gives a value for a start, and the next for a value, each good once. */
class Chain {
  readonly #good = new Set<string>();
  #made = 0;
  reused = 0;
  redeemed = 0;

  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const value = new URLSearchParams(await text(req)).get('value');
    if (value !== null && !this.#good.delete(value)) this.reused += 1;
    if (value !== null) this.redeemed += 1;
    const next = `value-${(this.#made += 1)}`;
    this.#good.add(next);
    const body = JSON.stringify({ value: next });
    const location = `https://app.example/?value=${next}&more=1`;
    if (req.url === '/redirect') res.setHeader('Location', location).statusCode = 303;
    res.setHeader('Content-Length', body.length).end(body);
  }
}

const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing) close();
});

async function serve(answer: (req: IncomingMessage, res: ServerResponse) => Promise<void>): Promise<string> {
  const server = createServer((req, res) => void answer(req, res)).listen(0, '127.0.0.1');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`;
}

const post = (value: string) => ({ method: 'POST' as const, path: '/', body: `kind=next&value=${value}` });
const onward: Traffic = {
  first: () => ({ path: '/' }),
  distinct: 4,
  next: { found: { in: 'body', after: '"value":"', until: '"' }, shot: post, together: false },
};
const twoSteps: Traffic = {
  first: () => ({ path: '/redirect' }),
  distinct: 4,
  next: { found: { in: 'location', after: 'value=', until: '&' }, shot: post, together: true },
};

const finishedOf = async (origin: string, traffic: Traffic): Promise<number> =>
  (await closedLoop(origin, traffic, 3, 0.2)).filter(({ ok }) => ok).length;

describe.each([
  ['wrk', !(await hasWrk()), async (origin: string, traffic: Traffic) => (await fireWrk(origin, traffic, 3, 1)).finished],
  ['our own load', false, finishedOf],
] as const)('by %s', (_name, isMissing, fire) => {
  test.skipIf(isMissing)('each answer gives the value of the next request, and none is used twice', async () => {
    const chain = new Chain();
    const finished = await fire(await serve((req, res) => chain.answer(req, res)), onward);
    expect(chain.reused).toBe(0);
    expect(chain.redeemed).toBeGreaterThan(10);
    // what was on its way when the time was over is not counted
    expect(finished).toBeGreaterThan(chain.redeemed - 4);
  });

  test.skipIf(isMissing)('a redirect and what it leads to count as one', async () => {
    const chain = new Chain();
    const finished = await fire(await serve((req, res) => chain.answer(req, res)), twoSteps);
    expect(chain.reused).toBe(0);
    expect(chain.redeemed).toBeGreaterThan(10);
    expect(Math.abs(finished - chain.redeemed)).toBeLessThan(4);
  });
});

test.skipIf(!(await hasWrk()))('wrk sends so many a second as it is told', async () => {
  const chain = new Chain();
  const origin = await serve((req, res) => chain.answer(req, res));
  expect(Math.abs((await fireWrk(origin, onward, 3, 1, 50)).finished - 50)).toBeLessThan(10);
  // each counts as one and is two
  expect(Math.abs((await fireWrk(origin, twoSteps, 3, 1, 50)).finished - 50)).toBeLessThan(10);
});

test('at a constant rate the time that requests wait for each other counts', async () => {
  const origin = await serve(async (_req, res) => {
    await sleep(20);
    res.writeHead(200, { 'Content-Length': 0 }).end();
  });
  const all = await constantRate(origin, { first: () => ({ path: '/' }) }, 1, 0.25, 200);
  expect(all).toHaveLength(50);
  // fifty answers of 20 ms take a second, and the last was due after a quarter of it
  expect(Math.max(...all.map(({ ms }) => ms))).toBeGreaterThan(500);
});
