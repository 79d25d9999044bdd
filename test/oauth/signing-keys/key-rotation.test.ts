import { idTokenSigningAlgorithms } from '@mandate/contract';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../server/app/app.ts';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { rotateSigningKeysIfDueOrRequested } from '../../../server/oauth/signing-keys/rotate-signing-keys.ts';
import { createCacheWithLoadedOrNewSigningKeys } from '../../../server/oauth/signing-keys/rotating-signing-key-cache.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { unlimitedRates } from '../../support/server/start-options.ts';
import { databaseKind, createMigratedDatabase, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { startLoadBalancer, type LoadBalancer } from '../../support/network/load-balancer.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { obtainClientToken, createConfidentialClient, type ClientCredentials } from '../../support/oauth/oauth-flow.ts';
import { testServerSecret } from '../../support/server/test-server-secret.ts';
import { closeServer } from '../../support/network/loopback-server.ts';

const secret = testServerSecret;
const encryptionKey = Buffer.alloc(32);
const secondsFromNow = (count: number): Date => new Date(Date.now() + count * 1000);
const schedule = { every: 100, publishedBefore: 10, publishedAfter: 20 };
const readKids = async (db: Database): Promise<string[]> =>
  (await db.em.fork().execute<{ kid: string }[]>(`select kid from signing_keys where algorithm = 'ES256' order by signs_from`)).map(
    ({ kid }) => kid,
  );

describe('signing keys', () => {
  let db: Database;
  beforeAll(async () => {
    db = await createMigratedDatabase();
    await createCacheWithLoadedOrNewSigningKeys(db.em, encryptionKey);
  });
  afterAll(() => db.close());

  test('rotate on schedule: they are published, then used for signing, then removed (92)', async () => {
    const [first = ''] = await readKids(db);
    const rotate = async (now: Date, when?: 'asked' | 'at once') =>
      (await rotateSigningKeysIfDueOrRequested(db.em, encryptionKey, now, { schedule, ...(when && { when }) })).made;
    expect(await rotate(secondsFromNow(50))).toBe(0); // no rotation is due
    expect(await rotate(secondsFromNow(101))).toBe(idTokenSigningAlgorithms.length); // one key for each algorithm
    const [, second = ''] = await readKids(db);
    expect(await rotate(secondsFromNow(102), 'asked')).toBe(0); // the next key is published but not used yet
    expect(await readKids(db)).toEqual([first, second]);
    await rotate(secondsFromNow(150));
    expect(await readKids(db)).toEqual([second]); // all tokens signed with the first key have expired
    expect(await rotate(secondsFromNow(151), 'asked')).toBe(idTokenSigningAlgorithms.length); // a rotation by command, before the next key is due
    const before = await readKids(db);
    expect(await rotate(secondsFromNow(152), 'at once')).toBe(idTokenSigningAlgorithms.length);
    expect((await readKids(db)).filter((kid) => before.includes(kid))).toEqual([]); // an immediate rotation removes all earlier keys
  });

  test('are created once by concurrent rotations', async () => {
    const before = (await readKids(db)).length;
    const rotations = await Promise.all(
      [1, 2, 3].map(() => rotateSigningKeysIfDueOrRequested(db.em, encryptionKey, secondsFromNow(400), { schedule })),
    );
    expect(rotations.map((rotation) => rotation.made).toSorted((a, b) => a - b)).toEqual([0, 0, idTokenSigningAlgorithms.length]);
    expect((await readKids(db)).length).toBeLessThanOrEqual(before + 1);
    const [auditEvent] = await db.em
      .fork()
      .execute<{ details: { keys: string[]; when: string } }[]>(
        `select details from audit_events where action = 'signing_key.rotated' order by id desc limit 1`,
      );
    expect(auditEvent?.details.when).toBe('due');
    expect(auditEvent?.details.keys).toEqual(expect.arrayContaining((await readKids(db)).slice(-1)));
  });
});

/** 10,000 requests take minutes. The default of 600 requests is enough for several key rotations. */
// oxlint-disable-next-line node/no-process-env -- these tests have no other setting
const requests = Number(process.env['ROTATION_REQUESTS'] ?? 600);

describe(`two servers on one database with a key rotation every two seconds and ${requests} requests`, () => {
  const closing: (() => Promise<void>)[] = [];
  let loadBalancer: LoadBalancer;
  let client: ClientCredentials;

  beforeAll(async () => {
    loadBalancer = await startLoadBalancer(await findFreePort());
    closing.push(() => loadBalancer.close());
    const url = databaseKind === 'postgresql' ? await createMigratedPostgresqlUrl() : undefined;
    const sharedDatabase = url === undefined ? await createMigratedDatabase() : undefined;
    const ports: number[] = [];
    for (let count = 0; count < 2; count += 1) {
      const db = sharedDatabase ?? (await openDatabaseWithoutMigrating(url ?? ''));
      const app = await createApp({
        db,
        issuer: loadBalancer.url,
        keys: deriveKeys(secret),
        log: createLogger(false),
        rateLimits: unlimitedRates,
        signingKeys: { schedule: { every: 2, publishedBefore: 2, publishedAfter: 3 }, reloadAfterMs: 300 },
      });
      const server = createServer(app).listen(0, '127.0.0.1');
      await once(server, 'listening');
      ports.push(portOf(server));
      client ??= await createConfidentialClient(db, ['users.manage']);
      closing.unshift(async () => {
        await closeServer(server);
        if (db !== sharedDatabase) await db.close();
      });
    }
    if (sharedDatabase) closing.push(() => sharedDatabase.close());
    loadBalancer.setPorts(ports);
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  const publishedKeys = async () =>
    z
      .object({ keys: z.array(z.object({ kid: z.string(), kty: z.string() }).passthrough()) })
      .parse(await (await fetch(`${loadBalancer.url}/oauth/jwks`)).json());

  /** Requests tokens, and verifies them with a cached key set, as applications do. Returns the failures. */
  async function requestAndVerifyTokens(tokenCount: number, kids: Set<string>): Promise<string[]> {
    const failures: string[] = [];
    let cachedKeys = { keys: await publishedKeys(), at: performance.now() };
    for (let count = 0; count < tokenCount; count += 2) {
      if (performance.now() - cachedKeys.at > 1000) cachedKeys = { keys: await publishedKeys(), at: performance.now() };
      const token = await obtainClientToken(loadBalancer.url, client, ['users.manage']).catch(
        (error: unknown) => void failures.push(String(error)),
      );
      if (token === undefined) continue;
      kids.add(decodeProtectedHeader(token).kid ?? '');
      await jwtVerify(token, createLocalJWKSet(cachedKeys.keys)).catch((error: unknown) => void failures.push(String(error)));
      const response = await fetch(`${loadBalancer.url}/api/v1/users/1`, { headers: { authorization: `Bearer ${token}` } });
      if (response.status !== 404) failures.push(`${response.status} ${await response.text()}`);
      else await response.arrayBuffer();
      if (requests < 2000) await sleep(100); // keys are replaced after four seconds, and published for two seconds before use
    }
    return failures;
  }

  test('issue and accept tokens without a failure (92)', { timeout: 600_000 }, async () => {
    const kids = new Set<string>();
    const workers = 6;
    const failures = (await Promise.all(Array.from({ length: workers }, () => requestAndVerifyTokens(requests / workers, kids)))).flat();
    expect(failures).toEqual([]);
    expect(kids.size).toBeGreaterThan(1);
  });
});

const portOf = (server: Server): number => z.object({ port: z.number() }).parse(server.address()).port;
