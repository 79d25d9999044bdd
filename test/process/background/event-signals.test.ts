import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Database, EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import {
  startNotifyingOtherProcessesOfLocalWrites,
  startReceivingSignalsOfOtherProcesses,
} from '../../../server/events/signal-events-between-processes.ts';
import { getEventSignalsOfDatabase } from '../../../server/events/event-signals.ts';
import { EventLongPoller } from '../../../server/events/event-long-poll.ts';
import { recordEvent } from '../../../server/events/record-event.ts';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import {
  hourMs,
  readLastSequence,
  waitForEventSequence,
  mockPollInterval,
  silentLog,
  startEventJobs,
} from '../../support/webhooks/event-jobs.ts';
import { openTcpProxy } from '../../support/network/tcp-proxy.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { z } from 'zod';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const recordTestEvent = (em: EntityManager): Promise<void> =>
  em.fork().transactional((inner) => recordEvent(inner, 'webhook_endpoint.disabled', { id: 1, version: 1 }, null));

describe.skipIf(databaseKind === 'pglite')('two processes', () => {
  /** Simulates two processes: one writes events and waits for new events, and the other assigns the sequence numbers. */
  async function startPair(listenUrl?: string, log = silentLog) {
    const url = await createMigratedPostgresqlUrl();
    const [web, worker] = [await openDatabaseWithoutMigrating(url), await openDatabaseWithoutMigrating(url)];
    cleanUps.push(() => Promise.all([web.close(), worker.close()]));
    startNotifyingOtherProcessesOfLocalWrites(web.em, silentLog);
    for (const db of [web, worker]) {
      const listener = await startReceivingSignalsOfOtherProcesses(
        db.em,
        db === worker && listenUrl !== undefined ? withPort(url, listenUrl) : url,
        log,
      );
      cleanUps.push(() => listener[Symbol.asyncDispose]());
    }
    const newEvents = new EventLongPoller(web.em);
    cleanUps.push(() => newEvents.stop());
    const receivesNotifications = (db: Database): boolean => getEventSignalsOfDatabase(db.em).receivesAllSignals;
    await expect.poll(() => receivesNotifications(web) && receivesNotifications(worker)).toBe(true);
    cleanUps.push(startEventJobs(worker));
    return { web, worker, newEvents, receivesNotifications };
  }
  const portOf = (server: Server): number => z.object({ port: z.number() }).parse(server.address()).port;
  const withPort = (url: string, port: string): string => Object.assign(new URL(url), { port }).href;

  test('receive events through notifications without polling', async () => {
    mockPollInterval(hourMs, hourMs);
    const { web, newEvents } = await startPair();
    for (const count of [1, 2, 3]) {
      const waiting = newEvents.wait(count - 1, 10_000, new AbortController().signal);
      await recordTestEvent(web.em);
      await waiting;
      expect(await readLastSequence(web.em)).toBe(count);
    }
  });

  test('poll while notifications are interrupted, and receive notifications again afterwards', { timeout: 30_000 }, async () => {
    mockPollInterval(hourMs, 100);
    const postgresql = new URL(await createMigratedPostgresqlUrl());
    await using proxy = await openTcpProxy(Number(postgresql.port));
    const { web, worker, receivesNotifications } = await startPair(String(proxy.port));
    await recordTestEvent(web.em);
    await waitForEventSequence(web.em, 1);
    proxy.dropTraffic();
    proxy.closeConnections();
    await expect.poll(() => receivesNotifications(worker), { timeout: 10_000 }).toBe(false);
    await recordTestEvent(web.em);
    await waitForEventSequence(web.em, 2);
    proxy.forwardNewConnections();
    await expect.poll(() => receivesNotifications(worker), { timeout: 20_000 }).toBe(true);
    await recordTestEvent(web.em);
    await waitForEventSequence(web.em, 3);
  });

  test(
    'log one warning while the connection for notifications cannot be opened, and a message when it is open again',
    { timeout: 30_000 },
    async () => {
      let rejected = 0;
      const rejectingServer = createServer((socket) => {
        rejected += 1;
        socket.destroy();
      }).listen(0, '127.0.0.1');
      await once(rejectingServer, 'listening');
      cleanUps.push(() => rejectingServer.close());
      const postgresqlPort = Number(new URL(await createMigratedPostgresqlUrl()).port);
      await using proxy = await openTcpProxy(postgresqlPort);
      const lines: { level: number; msg: string }[] = [];
      const log = createLogger(true, { write: (line) => void lines.push(JSON.parse(line)) });
      const { worker, receivesNotifications } = await startPair(String(proxy.port), log);
      proxy.setTargetPort(portOf(rejectingServer));
      proxy.closeConnections();
      await expect.poll(() => rejected, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
      proxy.setTargetPort(postgresqlPort);
      await expect.poll(() => receivesNotifications(worker), { timeout: 20_000 }).toBe(true);
      expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
        [40, 'event notifications are unavailable: polling every second until they work again'],
        [30, 'event notifications are working again'],
      ]);
    },
  );

  test('sequence an event that was committed while another process locked the sequence', async () => {
    mockPollInterval(hourMs, hourMs);
    const { web, worker } = await startPair();
    const holder = web.em.fork();
    await holder.begin();
    await holder.execute('select last_seq from event_sequence for no key update');
    await recordTestEvent(web.em);
    await sleep(200);
    expect(await readLastSequence(worker.em)).toBe(0);
    await holder.rollback();
    await waitForEventSequence(web.em, 1);
  });
});
