import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createHttpServer } from '../../server/http/server/http-server.ts';
import type { LoadShedder, LoadLimits } from '../../server/http/server/load-shedder.ts';
import { RequestActivityMonitor } from '../../server/http/server/request-activity-monitor.ts';
import { createLogger } from '../../server/logging/logger.ts';
import { closeServer, listenOnLoopback } from '../support/network/loopback-server.ts';

test('the load shedder counts active, queued and rejected requests', async () => {
  const requests = new RequestActivityMonitor();
  expect(requests.areInProgress).toBe(false);
  const log = createLogger(true);
  log.level = 'silent';
  const activeResponses: ServerResponse[] = [];
  let shedder: LoadShedder | undefined;
  const load = { maxConcurrent: 1, maxQueued: 1, maxConcurrentOverloaded: 1, maxQueuedOverloaded: 1 } satisfies Partial<LoadLimits>;
  const server = createHttpServer((_req, res) => void activeResponses.push(res), {
    issuer: 'http://localhost',
    log,
    load,
    watchLoad: (loadShedder) => {
      shedder = loadShedder;
      requests.watch(loadShedder);
    },
  });
  const port = await listenOnLoopback(server);
  const url = `http://127.0.0.1:${port}`;

  const first = fetch(url);
  await expect.poll(() => shedder?.counts).toMatchObject({ working: 1, waiting: 0 });
  expect(requests.areInProgress).toBe(true);
  const second = fetch(url);
  await expect.poll(() => shedder?.counts).toMatchObject({ working: 1, waiting: 1 });
  // the third request does not fit in the queue, so the server rejects the request that has waited longest
  const third = fetch(url);
  expect((await second).status).toBe(503);
  expect(shedder?.counts).toEqual({ working: 1, waiting: 1, refused: { overloaded: 1, 'no answer': 0, 'no body': 0 } });
  activeResponses[0]?.end();
  await expect.poll(() => activeResponses.length).toBe(2);
  activeResponses[1]?.end();
  expect([(await first).status, (await third).status]).toEqual([200, 200]);
  expect(shedder?.counts).toMatchObject({ working: 0, waiting: 0 });
  expect(requests.areInProgress).toBe(false);
  await closeServer(server);
});
