import { expect, test } from 'vitest';
import { withShop } from '../../support/shop/with-shop.ts';
import { runPendingTasks, hookTaskSteps } from '../../support/shop/run-tasks.ts';

const shop = withShop();

/** Runs the task until `step`, and pauses at this step until `continueWork` is called. */
function pauseAt(step: number, signal?: AbortSignal): { paused: Promise<void>; continueWork: () => void; finished: Promise<number> } {
  const [paused, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const finished = runPendingTasks(
    shop,
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
  const { status, body: task } = await shop.callApi('POST', '/api/v1/order-exports', { token: shop.token, body: {} });
  expect(status).toBe(202);
  const stop = new AbortController();
  const stale = pauseAt(1, stop.signal);
  await stale.paused;
  // another process can claim the task only after the lease has expired
  await shop.db.em.fork().execute('update tasks set lease_until = now() where id = ?', [task.id]);
  const successor = pauseAt(1);
  await successor.paused;
  stop.abort();
  stale.continueWork();
  await stale.finished;
  expect(await runPendingTasks(shop)).toBe(0);
  successor.continueWork();
  expect(await successor.finished).toBe(1);
  expect((await shop.callApi('GET', `/api/v1/tasks/${task.id}`, { token: shop.token })).body.status).toBe('succeeded');
});
