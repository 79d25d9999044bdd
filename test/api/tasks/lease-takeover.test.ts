import { afterAll, beforeAll, expect, test } from 'vitest';
import { startMandateServer, type MandateServer } from '../../support/server/start-mandate.ts';
import { createTestShop, type TestShop } from '../../support/server/test-shop.ts';
import { runPendingTasks, hookTaskSteps } from '../../support/run-tasks.ts';

let mandate: MandateServer;
let shop: TestShop;
beforeAll(async () => {
  mandate = await startMandateServer();
  shop = await createTestShop(mandate);
});
afterAll(() => mandate.close());

/** Runs the task until `step`, and pauses there until `continueWork` is called. */
function pauseAt(step: number, signal?: AbortSignal): { paused: Promise<void>; continueWork: () => void; finished: Promise<number> } {
  const [paused, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const finished = runPendingTasks(
    mandate,
    hookTaskSteps((at) => {
      if (at !== step) return undefined;
      paused.resolve();
      return released.promise;
    }),
    signal ? { signal } : {},
  );
  return { paused: paused.promise, continueWork: released.resolve, finished };
}

test('a worker whose lease was taken over does not release the task of its successor', async () => {
  const { status, body: task } = await mandate.callApi('POST', '/api/v1/order-exports', { token: shop.token, body: {} });
  expect(status).toBe(202);
  const stop = new AbortController();
  const stale = pauseAt(1, stop.signal);
  await stale.paused;
  // another process can claim the task only after the lease has expired
  await mandate.db.em.fork().execute('update tasks set lease_until = now() where id = ?', [task.id]);
  const successor = pauseAt(1);
  await successor.paused;
  stop.abort();
  stale.continueWork();
  await stale.finished;
  expect(await runPendingTasks(mandate)).toBe(0);
  successor.continueWork();
  expect(await successor.finished).toBe(1);
  expect((await mandate.callApi('GET', `/api/v1/tasks/${task.id}`, { token: shop.token })).body.status).toBe('succeeded');
});
