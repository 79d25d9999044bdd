/**
 * `npm run slow-clients`: 400 connections of slowhttptest (`apt-get install slowhttptest`) that are slow to send headers, to send
 * bodies and to read, 30 seconds each, and meanwhile callers who are not. Prints how these were served.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { Connections } from './connections.ts';
import { closedLoop, oneRequest, percentile, type Timed } from './load-generator.ts';
import { withShop, type RunningShop } from './running-server.ts';

const connections = '400';
const seconds = '30';

const attacks = (url: string): Record<string, string[]> => ({
  nobody: [],
  'slow headers': ['-H', '-u', `${url}/api/v1/products`, '-i', '5'],
  'slow bodies': ['-B', '-u', `${url}/oauth/token`, '-i', '5', '-s', '8192', '-f', 'application/x-www-form-urlencoded'],
  'slow bodies to the API': ['-B', '-u', `${url}/api/v1/orders`, '-i', '5', '-s', '8192', '-t', 'POST'],
  'slow reading': ['-X', '-u', `${url}/openapi.json`, '-w', '512', '-y', '1024', '-n', '5', '-z', '32', '-k', '3'],
});

/** Twenty requests a second of others, while it lasts. */
async function others(shop: RunningShop, until: Promise<unknown>): Promise<Timed[]> {
  using own = new Connections(shop.server.url, 50);
  const all: Promise<Timed>[] = [];
  const over = new AbortController();
  void until.then(() => over.abort());
  for (let at = 0; !over.signal.aborted; at += 1) {
    all.push(oneRequest(shop, own, at));
    await sleep(50);
  }
  return await Promise.all(all);
}

await withShop(async (shop) => {
  await closedLoop(shop, 1, 1_000); // warm
  const lines = [
    '| 400 connections with | others asked | answered | ms p50 / p99 / longest | what the attacker says |',
    '|---|---|---|---|---|',
  ];
  for (const [name, flags] of Object.entries(attacks(shop.server.url))) {
    let output = '';
    const attack =
      flags.length === 0 ? undefined : spawn('slowhttptest', ['-c', connections, '-r', '200', '-l', seconds, '-p', '3', ...flags]);
    attack?.stdout.on('data', (chunk) => (output += String(chunk)));
    const answers = await others(shop, attack ? once(attack, 'exit') : sleep(10_000));
    const served = answers.filter(({ status }) => status === 200 || status === 201);
    const took = [percentile(served, 0.5), percentile(served, 0.99), percentile(served, 1)].map((ms) => ms.toFixed(1)).join(' / ');
    // in colours, for people
    const said = stripVTControlCharacters(output);
    const available = Array.from(said.matchAll(/service available: +(\w+)/g), ([, word]) => word);
    const attacker = attack
      ? `available ${available.filter((word) => word === 'YES').length} of ${available.length} times; ${/Exit status: *(.*)/.exec(said)?.[1] ?? ''}`
      : '';
    lines.push(`| ${[name, answers.length, served.length, took, attacker].join(' | ')} |`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
});
