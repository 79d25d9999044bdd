import { createHash, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../../server/schema/open-database.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { killProcesses, spawnCommand } from '../../cli/run-command-line.ts';
import { databaseKind, freshPostgresqlUrl } from '../../support/services/database.ts';
import { freePort } from '../../support/network/free-port.ts';
import { MortalServer } from '../../support/server/killable-server.ts';
import { administrationToken, endServerProcesses, temporaryDataDirectory } from '../../support/server/server-process.ts';
import { openReceiver, type Answering, type Received } from '../../support/network/webhook-receiver.ts';
import { placeOrder, shopper, type Shopper } from '../lifecycle/shopper.ts';

/** `MANDATE_WEBHOOK_ORDERS=10000` for a thorough look, which takes some minutes. */
const orders = Number(process.env['MANDATE_WEBHOOK_ORDERS'] ?? 240);
const kills = 5;
const unlimited = { MANDATE_RATE_LIMIT: '1000000', MANDATE_RATE_LIMIT_IP: '1000000' };

afterEach(() => {
  endServerProcesses();
  killProcesses();
});

const created = z.object({ id: z.number() });
async function register(url: string, token: string, receiver: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver, events: ['order.created'] }),
  });
  return created.parse(await response.json()).id;
}

/** Until it is confirmed, whatever happens to the server meanwhile: the same reference never makes two. */
async function orderForSure(who: Shopper, token: () => Promise<string>, reference: string): Promise<void> {
  for (;;) {
    const placed = await token()
      .then((fresh) => placeOrder({ ...who, token: fresh }, reference))
      .catch(() => undefined);
    if (placed) return;
    await sleep(100);
  }
}

/** A token that is renewed before it ends. */
function renewing(url: string, directory: string): () => Promise<string> {
  let [kept, until]: [Promise<string>, number] = [Promise.resolve(''), 0];
  return () => {
    if (Date.now() > until) {
      until = Date.now() + 200_000;
      kept = administrationToken(url, directory);
      kept.catch(() => (until = 0));
    }
    return kept;
  };
}

const databases = databaseKind === 'postgresql' ? [{ kind: 'PostgreSQL', url: freshPostgresqlUrl }] : [];

describe.each(databases)(`${orders} orders on $kind`, { timeout: 60_000 + orders * 200 }, ({ url: freshUrl }) => {
  test(`every event arrives with one id, though the receiver is down, then unsure, and the server is killed ${kills} times`, async () => {
    await using directory = await temporaryDataDirectory();
    const [databaseUrl, port, receiverPort] = [await freshUrl(), await freePort(), await freePort()];
    const mortal = new MortalServer({ DATABASE_URL: databaseUrl, MANDATE_DATA_DIR: directory.path, PORT: String(port), ...unlimited });
    const url = await mortal.live();
    const token = renewing(url, directory.path);
    const who = await shopper(url, directory.path);
    const endpoint = await register(url, await token(), `http://127.0.0.1:${receiverPort}/hooks`);
    const db = await openDatabase(databaseUrl);

    const waiting = Array.from({ length: orders }, (_, index) => `order ${index + 1}`);
    const placed: string[] = [];
    const buy = async (): Promise<void> => {
      for (let reference = waiting.pop(); reference !== undefined; reference = waiting.pop()) {
        await orderForSure(who, token, reference);
        placed.push(reference);
      }
    };
    const buying = Promise.all(Array.from({ length: 8 }, buy));
    const reached = async (share: number): Promise<void> => {
      while (placed.length < orders * share) await sleep(20);
    };
    // nobody listens
    await reached(0.3);
    await mortal.dieAndRise();
    await hurry(db);
    // somebody listens, and does not know what to do with it
    const receiver = await openReceiver(receiverPort);
    const accepted: string[] = [];
    const accept: Answering = ({ headers }, res) => {
      accepted.push(headers['webhook-id'] ?? '');
      res.writeHead(204).end();
    };
    receiver.answer = unsure(accept);
    for (let killed = 1; killed < kills; killed += 1) {
      await reached(0.3 + killed * 0.12);
      await mortal.dieAndRise();
      await hurry(db);
    }
    await buying;
    // all is well
    receiver.answer = accept;
    let counts = await countsOf(db, endpoint);
    for (
      const end = Date.now() + 60_000 + orders * 60;
      (counts['succeeded'] ?? 0) < orders && Date.now() < end;
      counts = await countsOf(db, endpoint)
    ) {
      await hurry(db);
      await sleep(500);
    }
    expect(counts).toEqual({ succeeded: orders });
    const { arrived, bodies } = tally(receiver.received);
    const twice = accepted.length - new Set(accepted).size;
    expect(new Set(accepted)).toEqual(new Set(arrived));
    const written = await db.em.fork().execute<{ seq: number }[]>(`select seq from events where type = 'order.created' order by seq`);
    expect(arrived).toEqual(written.map(({ seq }) => `evt_${seq}`));
    expect(bodies, 'one id, one body').toBe(arrived.length);
    process.stderr.write(
      `${orders} orders, ${kills} kills: ${receiver.received.length} deliveries of ${arrived.length} events; ${twice} were accepted a second time, 0 lost\n`,
    );
    await db.close();
    await mortal.stop();
    await receiver.close();
  });

  test('the command line, listening, leaves out nothing and sends nothing twice when the server is killed', async () => {
    await using directory = await temporaryDataDirectory();
    const mortal = new MortalServer({
      DATABASE_URL: await freshUrl(),
      MANDATE_DATA_DIR: directory.path,
      PORT: String(await freePort()),
      ...unlimited,
    });
    const url = await mortal.live();
    const token = renewing(url, directory.path);
    const who = await shopper(url, directory.path);
    const receiver = await openReceiver();
    const home = join(directory.path, 'home');
    const words = ['webhooks', 'listen', '--forward-to', receiver.url, '--events', 'order.created', '--after', '0', '--api-url', url];
    const listening = spawnCommand(words, { MANDATE_TOKEN: await token(), MANDATE_CONFIG_DIR: home, HOME: home });
    const place = async (from: number, to: number): Promise<void> => {
      for (let nth = from; nth < to; nth += 1) await orderForSure(who, token, `order ${nth}`);
    };
    for (let round = 0; round < 3; round += 1) {
      const placing = place(round * 20, round * 20 + 20);
      while (receiver.received.length < round * 20 + 5) await sleep(10);
      await mortal.dieAndRise();
      await placing;
    }
    while (receiver.received.length < 60) await sleep(20);
    await sleep(500);
    const seen = receiver.received.map(({ body }) => z.object({ id: z.number() }).parse(body).id);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
    expect(seen).toHaveLength(60);
    listening.child.kill('SIGINT');
    const { exitCode, stderr } = await listening.exited;
    expect(stderr).toContain(`Stopped after 60 events; resume with --after ${seen.at(-1)}`);
    expect(stderr).toContain('Reconnected');
    expect(exitCode).toBe(0);
    await mortal.stop();
    await receiver.close();
  });
});

/** Half a mind to take it: mostly, not at all, not in time, or breaking off. */
const unsure =
  (accept: Answering): Answering =>
  (received, res) => {
    const mood = randomInt(1000);
    if (mood < 650) return accept(received, res);
    if (mood < 850) return res.writeHead(500).end();
    if (mood < 997) return res.destroy();
    return undefined;
  };

/** As if the time until the next try had passed; what is under way is left alone. */
const hurry = (db: Database): Promise<unknown> =>
  db.em
    .fork()
    .execute(
      `update webhook_deliveries set next_attempt_at = now() where status = 'pending' and next_attempt_at > now() + interval '31 seconds'`,
    );

async function countsOf(db: Database, endpoint: number): Promise<Record<string, number>> {
  const rows = await db.em
    .fork()
    .execute<{ status: string; count: number }[]>(
      'select status, count(*)::int as count from webhook_deliveries where endpoint_id = ? group by 1',
      [endpoint],
    );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

function tally(received: readonly Received[]): { arrived: string[]; bodies: number } {
  const ids = new Set<string>();
  const bodies = new Set<string>();
  for (const { headers, text } of received) {
    const id = headers['webhook-id'] ?? '';
    ids.add(id);
    bodies.add(`${id} ${createHash('sha256').update(text).digest('hex')}`);
  }
  const number = (id: string): number => Number(id.replace('evt_', ''));
  return {
    arrived: [...ids].toSorted((a, b) => number(a) - number(b)),
    bodies: bodies.size,
  };
}
