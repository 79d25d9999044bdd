import { afterAll, beforeAll, expect, test } from 'vitest';
import { startMandate, type Mandate } from '../../support/server/start-mandate.ts';
import { openShop, type Shop } from '../../support/server/shop.ts';
import { carryOutTasks, interrupted } from '../../support/tasks.ts';

let mandate: Mandate;
let shop: Shop;
beforeAll(async () => {
  mandate = await startMandate();
  shop = await openShop(mandate);
});
afterAll(() => mandate.close());

/** Carries out the task until `step`, and holds it there until it is told to continue. */
function holdAt(step: number, signal?: AbortSignal): { held: Promise<void>; continueWork: () => void; ended: Promise<number> } {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ended = carryOutTasks(
    mandate,
    interrupted((at) => {
      if (at !== step) return undefined;
      held.resolve();
      return released.promise;
    }),
    signal ? { signal } : {},
  );
  return { held: held.promise, continueWork: released.resolve, ended };
}

test('a holder whose lease was taken over does not release the task of its successor', async () => {
  const { status, body: task } = await mandate.call('POST', '/api/v1/order-exports', { token: shop.token, body: {} });
  expect(status).toBe(202);
  const stop = new AbortController();
  const stale = holdAt(1, stop.signal);
  await stale.held;
  // nothing but time ends a lease
  await mandate.db.em.fork().execute('update tasks set lease_until = now() where id = ?', [task.id]);
  const successor = holdAt(1);
  await successor.held;
  stop.abort();
  stale.continueWork();
  await stale.ended;
  expect(await carryOutTasks(mandate)).toBe(0);
  successor.continueWork();
  expect(await successor.ended).toBe(1);
  expect((await mandate.call('GET', `/api/v1/tasks/${task.id}`, { token: shop.token })).body.status).toBe('succeeded');
});
