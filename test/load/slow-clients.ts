/**
 * `npm run slow-clients` attacks the server with slowhttptest (`apt-get install slowhttptest`): 400 connections send headers slowly, then
 * send bodies slowly, then read slowly, for 30 seconds each. Meanwhile, other clients send normal requests, and the program prints their
 * results.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { Connections } from './connections.ts';
import { runClosedLoop, sendMixedRequest, percentile, type TimedResponse } from './load-generator.ts';
import { withRunningShop, type RunningShop } from './running-shop.ts';

const connections = '400';
const seconds = '30';

const attacks = (url: string): Record<string, string[]> => ({
  nothing: [],
  headers: ['-H', '-u', `${url}/api/v1/products`, '-i', '5'],
  bodies: ['-B', '-u', `${url}/oauth/token`, '-i', '5', '-s', '8192', '-f', 'application/x-www-form-urlencoded'],
  'bodies to the API': ['-B', '-u', `${url}/api/v1/orders`, '-i', '5', '-s', '8192', '-t', 'POST'],
  reading: ['-X', '-u', `${url}/openapi.json`, '-w', '512', '-y', '1024', '-n', '5', '-z', '32', '-k', '3'],
});

/** Sends twenty normal requests per second during the attack. */
async function sendNormalRequests(shop: RunningShop, until: Promise<unknown>): Promise<TimedResponse[]> {
  using connectionPool = new Connections(shop.server.url, 50);
  const all: Promise<TimedResponse>[] = [];
  const stopped = new AbortController();
  void until.then(() => stopped.abort());
  for (let at = 0; !stopped.signal.aborted; at += 1) {
    all.push(sendMixedRequest(shop, connectionPool, at));
    await sleep(50);
  }
  return await Promise.all(all);
}

await withRunningShop(async (shop) => {
  await runClosedLoop(shop, 1, 1_000); // warm-up
  const lines = [
    '| slow part of the 400 connections | requests of other clients | responses | p50 / p99 / longest, ms | slowhttptest result |',
    '|---|---|---|---|---|',
  ];
  for (const [name, flags] of Object.entries(attacks(shop.server.url))) {
    let output = '';
    const attack =
      flags.length === 0 ? undefined : spawn('slowhttptest', ['-c', connections, '-r', '200', '-l', seconds, '-p', '3', ...flags]);
    attack?.stdout.on('data', (chunk) => (output += String(chunk)));
    const responses = await sendNormalRequests(shop, attack ? once(attack, 'exit') : sleep(10_000));
    const served = responses.filter(({ status }) => status === 200 || status === 201);
    const latencies = [percentile(served, 0.5), percentile(served, 0.99), percentile(served, 1)].map((ms) => ms.toFixed(1)).join(' / ');
    // slowhttptest prints colors
    const log = stripVTControlCharacters(output);
    const available = Array.from(log.matchAll(/service available: +(\w+)/g), ([, word]) => word);
    const attacker = attack
      ? `available ${available.filter((word) => word === 'YES').length} of ${available.length} times; ${/Exit status: *(.*)/.exec(log)?.[1] ?? ''}`
      : '';
    lines.push(`| ${[name, responses.length, served.length, latencies, attacker].join(' | ')} |`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
});
