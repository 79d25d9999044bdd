import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../server/app/app.ts';
import { openDatabase } from '../../../server/schema/open-database.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { createLog } from '../../../server/logging/logger.ts';
import { rotateSigningKeys } from '../../../server/oauth/signing-keys/rotate-signing-keys.ts';
import { loadSigningKeys } from '../../../server/oauth/signing-keys/signing-key-cache.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys.ts';
import { generous } from '../../support/server/start-options.ts';
import { databaseKind, freshDatabase, freshPostgresqlUrl } from '../../support/services/database.ts';
import { openFront, type Front } from '../../support/network/load-balancer.ts';
import { freePort } from '../../support/network/free-port.ts';
import { clientCredentials, confidentialClient, type Client } from '../../support/oauth/oauth-flow.ts';
import { secretOfTests } from '../../support/oauth/secret-hash.ts';

const secret = secretOfTests;
const keyOfKeys = Buffer.alloc(32);
const seconds = (count: number): Date => new Date(Date.now() + count * 1000);
const schedule = { every: 100, publishedBefore: 10, publishedAfter: 20 };
const kidsOf = async (db: Database): Promise<string[]> =>
  (await db.em.fork().execute<{ kid: string }[]>(`select kid from signing_keys where algorithm = 'ES256' order by signs_from`)).map(
    ({ kid }) => kid,
  );

describe('signing keys', () => {
  let db: Database;
  beforeAll(async () => {
    db = await freshDatabase();
    await loadSigningKeys(db.em, keyOfKeys);
  });
  afterAll(() => db.close());

  test('follow each other when they are due: published, then signing, then gone (92)', async () => {
    const [first = ''] = await kidsOf(db);
    const rotate = async (now: Date, when?: 'asked' | 'at once') =>
      (await rotateSigningKeys(db.em, keyOfKeys, now, { schedule, ...(when && { when }) })).made;
    expect(await rotate(seconds(50))).toBe(0); // not due
    expect(await rotate(seconds(101))).toBe(2); // one of each algorithm
    const [, second = ''] = await kidsOf(db);
    expect(await rotate(seconds(102), 'asked')).toBe(0); // the next one is published, and yet to sign
    expect(await kidsOf(db)).toEqual([first, second]);
    await rotate(seconds(150));
    expect(await kidsOf(db)).toEqual([second]); // what the first signed is not good any more
    expect(await rotate(seconds(151), 'asked')).toBe(2); // by command, at any time
    const before = await kidsOf(db);
    expect(await rotate(seconds(152), 'at once')).toBe(2);
    expect((await kidsOf(db)).filter((kid) => before.includes(kid))).toEqual([]); // nothing that was is good any more
  });

  test('are made once, whoever rotates at the same moment', async () => {
    const before = (await kidsOf(db)).length;
    const made = await Promise.all([1, 2, 3].map(() => rotateSigningKeys(db.em, keyOfKeys, seconds(400), { schedule })));
    expect(made.map((rotation) => rotation.made).toSorted((a, b) => a - b)).toEqual([0, 0, 2]);
    expect((await kidsOf(db)).length).toBeLessThanOrEqual(before + 1);
    const [written] = await db.em
      .fork()
      .execute<{ details: { keys: string[]; when: string } }[]>(
        `select details from audit_events where action = 'signing_key.rotated' order by id desc limit 1`,
      );
    expect(written?.details.when).toBe('due');
    expect(await kidsOf(db)).toContain(written?.details.keys[0]);
  });
});

/** Ten thousand take minutes; the fewer that run each time still see several keys come and go. */
// oxlint-disable-next-line node/no-process-env -- the tests have no configuration but this
const requests = Number(process.env['ROTATION_REQUESTS'] ?? 600);

describe(`two servers on one database, with keys that change every other second, under ${requests} requests`, () => {
  const closing: (() => Promise<void>)[] = [];
  let front: Front;
  let client: Client;

  beforeAll(async () => {
    front = await openFront(await freePort());
    closing.push(() => front.close());
    const url = databaseKind === 'postgresql' ? await freshPostgresqlUrl() : undefined;
    const shared = url === undefined ? await freshDatabase() : undefined;
    const ports: number[] = [];
    for (let count = 0; count < 2; count += 1) {
      const db = shared ?? (await openDatabase(url ?? ''));
      const app = await createApp({
        db,
        issuer: front.url,
        keys: deriveKeys(secret),
        log: createLog(false),
        rateLimits: generous,
        signingKeys: { schedule: { every: 2, publishedBefore: 2, publishedAfter: 3 }, reloadAfterMs: 300 },
      });
      const server = createServer(app).listen(0, '127.0.0.1');
      await once(server, 'listening');
      ports.push(portOf(server));
      client ??= await confidentialClient(db, ['users.manage']);
      closing.unshift(async () => {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
        if (db !== shared) await db.close();
      });
    }
    if (shared) closing.push(() => shared.close());
    front.lead(ports);
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  const publishedKeys = async () =>
    z
      .object({ keys: z.array(z.object({ kid: z.string(), kty: z.string() }).passthrough()) })
      .parse(await (await fetch(`${front.url}/oauth/jwks`)).json());

  /** What an application does that keeps a copy of the keys: it must never meet one that it does not have. */
  async function work(share: number, kids: Set<string>): Promise<string[]> {
    const failures: string[] = [];
    let copy = { keys: await publishedKeys(), at: performance.now() };
    for (let count = 0; count < share; count += 2) {
      if (performance.now() - copy.at > 1000) copy = { keys: await publishedKeys(), at: performance.now() };
      const token = await clientCredentials(front.url, client, ['users.manage']).catch(
        (error: unknown) => void failures.push(String(error)),
      );
      if (token === undefined) continue;
      kids.add(decodeProtectedHeader(token).kid ?? '');
      await jwtVerify(token, createLocalJWKSet(copy.keys)).catch((error: unknown) => void failures.push(String(error)));
      const answer = await fetch(`${front.url}/api/v1/users/1`, { headers: { authorization: `Bearer ${token}` } });
      if (answer.status !== 404) failures.push(`${answer.status} ${await answer.text()}`);
      else await answer.arrayBuffer();
      if (requests < 2000) await sleep(100); // keys change four seconds after they began: two until the next is due, and two for which it is published
    }
    return failures;
  }

  test('none fails (92)', { timeout: 600_000 }, async () => {
    const kids = new Set<string>();
    const workers = 6;
    const failures = (await Promise.all(Array.from({ length: workers }, () => work(requests / workers, kids)))).flat();
    expect(failures).toEqual([]);
    expect(kids.size).toBeGreaterThan(1);
  });
});

const portOf = (server: Server): number => z.object({ port: z.number() }).parse(server.address()).port;
