import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { runClosedLoop, runAtConstantRate } from './node-load-generator.ts';
import type { Traffic } from './traffic.ts';
import { runWrk, isWrkInstalled } from './wrk.ts';

/** Issues single-use values: each request redeems one value, and its response contains the next one. */
class ValueChain {
  readonly #unredeemed = new Set<string>();
  #issued = 0;
  reused = 0;
  redeemed = 0;

  async respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const value = new URLSearchParams(await text(req)).get('value');
    if (value !== null && !this.#unredeemed.delete(value)) this.reused += 1;
    if (value !== null) this.redeemed += 1;
    const next = `value-${(this.#issued += 1)}`;
    this.#unredeemed.add(next);
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

async function serve(respond: (req: IncomingMessage, res: ServerResponse) => Promise<void>): Promise<string> {
  const server = createServer((req, res) => void respond(req, res)).listen(0, '127.0.0.1');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`;
}

const post = (value: string) => ({ method: 'POST' as const, path: '/', body: `kind=next&value=${value}` });
const chainedTraffic: Traffic = {
  first: () => ({ path: '/' }),
  distinct: 4,
  next: { valueLocation: { in: 'body', after: '"value":"', until: '"' }, createRequest: post, countsAsOne: false },
};
const redirectTraffic: Traffic = {
  first: () => ({ path: '/redirect' }),
  distinct: 4,
  next: { valueLocation: { in: 'location', after: 'value=', until: '&' }, createRequest: post, countsAsOne: true },
};

const countFinished = async (origin: string, traffic: Traffic): Promise<number> =>
  (await runClosedLoop(origin, traffic, 3, 0.2)).filter(({ ok }) => ok).length;

describe.each([
  ['wrk', !(await isWrkInstalled()), async (origin: string, traffic: Traffic) => (await runWrk(origin, traffic, 3, 1)).finished],
  ['the Node load generator', false, countFinished],
] as const)('%s', (_name, isMissing, measureThroughput) => {
  test.skipIf(isMissing)('takes the value of each request from a previous response, and uses each value once', async () => {
    const chain = new ValueChain();
    const finished = await measureThroughput(await serve((req, res) => chain.respond(req, res)), chainedTraffic);
    expect(chain.reused).toBe(0);
    expect(chain.redeemed).toBeGreaterThan(10);
    // requests that were in flight at the end of the run are not counted
    expect(finished).toBeGreaterThan(chain.redeemed - 4);
  });

  test.skipIf(isMissing)('counts a redirect and the subsequent request as one', async () => {
    const chain = new ValueChain();
    const finished = await measureThroughput(await serve((req, res) => chain.respond(req, res)), redirectTraffic);
    expect(chain.reused).toBe(0);
    expect(chain.redeemed).toBeGreaterThan(10);
    expect(Math.abs(finished - chain.redeemed)).toBeLessThan(4);
  });
});

test.skipIf(!(await isWrkInstalled()))('wrk sends requests at the configured rate', async () => {
  const chain = new ValueChain();
  const origin = await serve((req, res) => chain.respond(req, res));
  expect(Math.abs((await runWrk(origin, chainedTraffic, 3, 1, 50)).finished - 50)).toBeLessThan(10);
  // each pair of requests counts as one request
  expect(Math.abs((await runWrk(origin, redirectTraffic, 3, 1, 50)).finished - 50)).toBeLessThan(10);
});

test('at a constant rate, latency includes the time that requests wait for each other', async () => {
  const origin = await serve(async (_req, res) => {
    await sleep(20);
    res.writeHead(200, { 'Content-Length': 0 }).end();
  });
  const all = await runAtConstantRate(origin, { first: () => ({ path: '/' }) }, 1, 0.25, 200);
  expect(all).toHaveLength(50);
  // fifty sequential responses of 20 ms each take one second, but the last request was due after a quarter of a second
  expect(Math.max(...all.map(({ ms }) => ms))).toBeGreaterThan(500);
});
