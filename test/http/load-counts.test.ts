import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createHttpServer } from '../../server/http/server/http-server.ts';
import type { LoadShedder, LoadLimits } from '../../server/http/server/load-shedder.ts';
import { createLog } from '../../server/logging/logger.ts';

test('the guard says how many requests are worked on, wait and were refused', async () => {
  const log = createLog(true);
  log.level = 'silent';
  const begun: ServerResponse[] = [];
  let guard: LoadShedder | undefined;
  const load = { maxConcurrent: 1, maxQueued: 1, maxConcurrentOverloaded: 1, maxQueuedOverloaded: 1 } satisfies Partial<LoadLimits>;
  const server = createHttpServer((_req, res) => void begun.push(res), {
    issuer: 'http://localhost',
    log,
    load,
    watchLoad: (given) => (guard = given),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `http://127.0.0.1:${address.port}`;

  const first = fetch(url);
  await expect.poll(() => guard?.counts).toMatchObject({ working: 1, waiting: 0 });
  const second = fetch(url);
  await expect.poll(() => guard?.counts).toMatchObject({ working: 1, waiting: 1 });
  // one too many: whoever waited longest makes room
  const third = fetch(url);
  expect((await second).status).toBe(503);
  expect(guard?.counts).toEqual({ working: 1, waiting: 1, refused: { overloaded: 1, 'no answer': 0, 'no body': 0 } });
  begun[0]?.end();
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.end();
  expect([(await first).status, (await third).status]).toEqual([200, 200]);
  expect(guard?.counts).toMatchObject({ working: 0, waiting: 0 });
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});
