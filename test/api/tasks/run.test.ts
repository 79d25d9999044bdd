import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { createStoredFile, appendToStoredFile } from '../../../server/tasks/stored-task-file.ts';
import { clearExpiredTaskDataBatch } from '../../../server/tasks/clear-expired-task-data.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { runQueuedTasks } from '../../../server/tasks/run-queued-tasks.ts';
import { PermanentTaskError } from '../../../server/tasks/permanent-task-error.ts';
import type { TaskHandler } from '../../../server/tasks/task-attempt.ts';
import { databaseKind } from '../../support/services/database.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { runPendingTasks, abandonTaskAtStep, hookTaskSteps } from '../../support/shop/run-tasks.ts';
import { useExportTasks } from './use-export-tasks.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write', 'tasks.read', 'tasks.write']);
const { query, startExport, getTask, eventsOf, expireLease } = useExportTasks(shop, anna);

beforeAll(async () => {
  await shop.placeOrder(buildOrderInput([await shop.createProduct({ price: 1 }), 1]), anna.token);
  // with a batch size of 500 orders, this creates five batches
  await shop.db.em.fork().execute(
    `insert into orders (user_id, status, currency, subtotal, shipping_total, tax_total, total, item_count, delivery, created_at)
     select user_id, status, currency, n, 0, 0, n, 1, delivery, created_at - make_interval(secs => n) from orders cross join generate_series(1, 2399) n`,
  );
});

const getResult = async ({ id }: JsonBody): Promise<string> => (await anna.callApi('GET', `/api/v1/tasks/${id}/result`)).text;
const cancel = ({ id }: JsonBody) => anna.callApi('POST', `/api/v1/tasks/${id}/cancellation`);

describe('a task', () => {
  test('passes through queued, running and succeeded, and records an event', async () => {
    const task = await startExport();
    const observedStates: JsonBody[] = [];
    await runPendingTasks(
      shop,
      hookTaskSteps(async (step) => observedStates.push([step, await getTask(task)])),
    );
    expect(observedStates.map(([step, { status, progress }]) => [step, status, progress.processed, progress.total])).toEqual([
      [1, 'running', 0, null],
      ...[0, 500, 1000, 1500, 2000].map((processed, at) => [at + 2, 'running', processed, 2400]),
    ]);
    expect(await getTask(task)).toMatchObject({ status: 'succeeded', progress: { processed: 2400, total: 2400 } });
    expect(await eventsOf(task)).toEqual(['task.succeeded']);
  });

  test('resumes after a crash at any step, and writes the same file', async () => {
    const uninterrupted = await startExport();
    await runPendingTasks(shop);
    const expected = await getResult(uninterrupted);
    for (let step = 1; step <= 6; step += 1) {
      const task = await startExport();
      await abandonTaskAtStep(shop, step);
      expect(await runPendingTasks(shop)).toBe(0); // the lease has not expired yet
      await expireLease(task);
      expect(await runPendingTasks(shop)).toBe(1);
      expect(await getResult(task)).toBe(expected);
      expect([(await getTask(task)).result.rows, await eventsOf(task)]).toEqual([2400, ['task.succeeded']]);
    }
  });

  test('ignores a worker after another worker has taken over its lease', async () => {
    const task = await startExport();
    const paused = Promise.withResolvers<void>();
    const resumption = Promise.withResolvers<void>();
    const first = runPendingTasks(
      shop,
      hookTaskSteps((step) => {
        if (step !== 3) return undefined;
        paused.resolve();
        return resumption.promise;
      }),
    );
    await paused.promise;
    await expireLease(task);
    await runPendingTasks(shop);
    const [before, file] = [await getTask(task), await getResult(task)];
    resumption.resolve();
    await first;
    expect([await getTask(task), await getResult(task), await eventsOf(task)]).toEqual([before, file, ['task.succeeded']]);
    expect(file.trimEnd().split('\r\n')).toHaveLength(2401);
  });

  test('is released when its process stops, and another process continues it immediately', async () => {
    const task = await startExport();
    const stop = new AbortController();
    await runPendingTasks(
      shop,
      hookTaskSteps((step) => (step === 4 ? stop.abort() : undefined)),
      stop,
    );
    expect(await getTask(task)).toMatchObject({ status: 'running', progress: { processed: 1000 } });
    expect(await runPendingTasks(shop)).toBe(1);
    expect((await getResult(task)).trimEnd().split('\r\n')).toHaveLength(2401);
  });

  test('is retried after an unexpected error, and fails after the tenth attempt', async () => {
    const task = await startExport();
    const log = pino({ level: 'silent' });
    const broken: TaskHandler = () => Promise.reject(new Error('planted'));
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      expect(await runPendingTasks(shop, { order_export: broken }, { log })).toBe(1);
      expect(await runPendingTasks(shop, { order_export: broken }, { log })).toBe(0);
      await expireLease(task);
    }
    expect((await getTask(task)).status).toBe('running');
    await runPendingTasks(shop, { order_export: broken });
    const failed = await getTask(task);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'gave_up' }, result: null });
    expect(JSON.stringify(failed)).not.toContain('planted');
    expect(await eventsOf(task)).toEqual(['task.failed']);
    expect((await shop.callApi('GET', `/api/v1/tasks/${task.id}/result`, { token: anna.token })).status).toBe(404);
  });

  test('reports the reason for a permanent error', async () => {
    const task = await startExport();
    await runPendingTasks(shop, {
      order_export: () => Promise.reject(new PermanentTaskError('too_many_rows', 'There are too many rows.')),
    });
    expect(await getTask(task)).toMatchObject({ status: 'failed', error: { code: 'too_many_rows', detail: 'There are too many rows.' } });
  });

  test.each([
    ['is suspended', `update users set status = 'suspended' where id = ?`],
    ['is no longer staff', `update users set role = 'customer' where id = ?`],
  ])('stops when its user %s', async (_label, change) => {
    const staffUser = await signUpWithRole(shop.db, shop.origin, 'staff');
    const { access_token: as } = await obtainTokens(shop.origin, staffUser, ['orders.read', 'orders.manage', 'tasks.read', 'tasks.write']);
    const { body: task } = await shop.callApi('POST', '/api/v1/order-exports', { token: as, body: {} });
    await runPendingTasks(
      shop,
      hookTaskSteps((step) => (step === 3 ? query(change, [staffUser.id]) : undefined)),
    );
    const [row] = await query('select status, processed, error from tasks where id = ?', [task.id]);
    expect(row).toMatchObject({ status: 'failed', processed: 500, error: { code: 'forbidden' } });
  });

  test('never starts if it is canceled while queued', async () => {
    const task = await startExport();
    const canceled = await cancel(task);
    expect([canceled.status, canceled.body.status, canceled.body.finished_at]).toEqual([202, 'canceled', expect.any(String)]);
    expect(await runPendingTasks(shop)).toBe(0);
    expect(await eventsOf(task)).toEqual(['task.canceled']);
  });

  test('stops at the next step if it is canceled while running, and its file is deleted', async () => {
    const task = await startExport();
    let last = 0;
    await runPendingTasks(
      shop,
      hookTaskSteps(async (step) => {
        last = step;
        if (step === 3) await cancel(task);
      }),
    );
    expect([last, (await getTask(task)).status, await eventsOf(task)]).toEqual([3, 'canceled', ['task.canceled']]);
    expect((await shop.callApi('GET', `/api/v1/tasks/${task.id}/result`, { token: anna.token })).status).toBe(404);
    await query(`update task_files set created_at = now() - interval '2 days'`);
    await clearExpiredTaskDataBatch(shop.db.em.fork());
    expect(await query(`select 1 from task_files f where not exists (select 1 from tasks where output_id = f.id)`)).toEqual([]);
  });

  test.skipIf(databaseKind === 'pglite')('runs once, even with several workers', async () => {
    const tasks = [await startExport(), await startExport()];
    const counts = await Promise.all(Array.from({ length: 6 }, () => runPendingTasks(shop)));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2);
    for (const task of tasks) expect([await eventsOf(task), (await getTask(task)).result.rows]).toEqual([['task.succeeded'], 2400]);
  });

  test('renews its lease at every step', async () => {
    const task = await startExport();
    await runPendingTasks(
      shop,
      hookTaskSteps(async (step) => {
        if (step === 1) return;
        const [row] = await query('select extract(epoch from lease_until - now())::int as left from tasks where id = ?', [task.id]);
        expect(row.left).toBeGreaterThan(7);
        await query(`update tasks set lease_until = now() + interval '1 second' where id = ?`, [task.id]);
      }),
    );
    expect((await getTask(task)).status).toBe('succeeded');
  });
});

describe('retention', () => {
  const setAge = ({ id }: JsonBody, days: number) =>
    query(`update tasks set finished_at = now() - make_interval(days => ?) where id = ?`, [days, id]);
  const status = async (path: string): Promise<[number, string]> => {
    const { status: code, body } = await shop.callApi('GET', path, { token: anna.token });
    return [code, body?.code];
  };

  test('keeps a result for 7 days and a task for 30 days, even if the cleanup runs later', async () => {
    const task = await startExport();
    await runPendingTasks(shop);
    const [path, file] = [`/api/v1/tasks/${task.id}`, `/api/v1/tasks/${task.id}/result`];
    for (const [days, expectedStatuses] of [
      [6, [200, 200]],
      [8, [200, 410]],
      [31, [410, 410]],
    ] as const) {
      await setAge(task, days);
      for (const cleanup of [false, true]) {
        if (cleanup) while ((await clearExpiredTaskDataBatch(shop.db.em.fork())) > 0);
        expect([(await status(path))[0], (await status(file))[0]], `${days} days, cleaned up: ${cleanup}`).toEqual(expectedStatuses);
      }
    }
    expect(await status(path)).toEqual([410, 'gone']);
    expect(await query('select params, result, output_id from tasks where id = ?', [task.id])).toEqual([
      { params: {}, result: null, output_id: null },
    ]);
    expect(
      (await shop.callApi('GET', '/api/v1/tasks?limit=100', { token: anna.token })).body.data.map(({ id }: JsonBody) => id),
    ).not.toContain(task.id);
  });

  test('deletes unreferenced files after a day, and no others', async () => {
    const em = shop.db.em.fork();
    const [fresh, old] = [await createStoredFile(em), await createStoredFile(em)];
    await appendToStoredFile(em, old, 0, Buffer.from('x'));
    await query(`update task_files set created_at = now() - interval '2 days' where id = ?`, [old]);
    const task = await startExport();
    await abandonTaskAtStep(shop, 4);
    await query(`update task_files set created_at = now() - interval '2 days' where id <> ?`, [fresh]);
    await clearExpiredTaskDataBatch(em);
    expect(await query('select id from task_files where id in (?, ?)', [fresh, old])).toEqual([{ id: fresh }]);
    await expireLease(task);
    await runPendingTasks(shop);
    expect((await getResult(task)).trimEnd().split('\r\n')).toHaveLength(2401);
  });
});

describe('a task while the process is processing requests', () => {
  /**
   * Runs an export that works for `workMs` before its only step. Returns how many times, before the step, the export checked whether the
   * process was processing requests.
   */
  async function countChecksBeforeStep(workMs: number, isServing: (check: number) => boolean): Promise<number> {
    await startExport();
    let [checks, checksBeforeStep] = [0, 0];
    const handlers = {
      order_export: async (run) => {
        for (const workedAt = performance.now(); performance.now() - workedAt < workMs;);
        await run.step(() => {
          checksBeforeStep = checks;
          return Promise.resolve({ checkpoint: {}, processed: 0 });
        });
        throw new PermanentTaskError('test', 'The task ends here.');
      },
    } satisfies Record<string, TaskHandler>;
    const isProcessingRequests = (): boolean => isServing((checks += 1));
    await runQueuedTasks({ em: shop.db.em, log: createLogger(false), handlers, isProcessingRequests });
    return checksBeforeStep;
  }

  test('pauses between its steps until the requests have finished', async () => {
    expect(await countChecksBeforeStep(300, (check) => check < 5)).toBe(5);
  });

  test('continues after some time even if there are always requests', async () => {
    expect(await countChecksBeforeStep(20, () => true)).toBeGreaterThan(1);
  });
});
