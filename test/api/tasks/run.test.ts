import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createStoredFile, appendToStoredFile } from '../../../server/tasks/stored-file.ts';
import { deleteOldTaskData } from '../../../server/tasks/delete-old-task-data.ts';
import { PermanentTaskError } from '../../../server/tasks/permanent-task-error.ts';
import type { TaskHandler } from '../../../server/tasks/task-context.ts';
import { databaseKind } from '../../support/services/database.ts';
import { startMandate, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import { signUp, signUpAs, tokensFor } from '../../support/oauth/oauth-flow.ts';
import { openShop, pickup, type Shop } from '../../support/server/shop.ts';
import { carryOutTasks, dyingAt, interrupted } from '../../support/tasks.ts';

let mandate: Mandate;
let shop: Shop;
let token: string;

beforeAll(async () => {
  mandate = await startMandate();
  shop = await openShop(mandate);
  const product = await shop.product({ price: 1 });
  token = (await tokensFor(mandate.origin, await signUp(mandate.origin), ['orders.read', 'orders.write', 'tasks.read', 'tasks.write']))
    .access_token;
  const body = { items: [{ product_id: product.id, quantity: 1 }], delivery: pickup };
  await mandate.call('POST', '/api/v1/orders', { token, body });
  // a batch is 500 orders: this makes five of them
  await mandate.db.em.fork().execute(
    `insert into orders (user_id, status, currency, subtotal, shipping_total, tax_total, total, item_count, delivery, created_at)
     select user_id, status, currency, n, 0, 0, n, 1, delivery, created_at - make_interval(secs => n) from orders cross join generate_series(1, 2399) n`,
  );
});
afterAll(() => mandate.close());
beforeEach(() => query(`update tasks set status = 'canceled', finished_at = now() where finished_at is null`));

const query = (sql: string, parameters: unknown[] = []): Promise<Body[]> => mandate.db.em.fork().execute(sql, parameters);
const start = async (): Promise<Body> => {
  const answer = await mandate.call('POST', '/api/v1/order-exports', { token, body: { columns: ['id', 'total'] } });
  expect(answer.status, answer.text).toBe(202);
  return answer.body;
};
const read = async ({ id }: Body): Promise<Body> => (await mandate.call('GET', `/api/v1/tasks/${id}`, { token })).body;
const result = async ({ id }: Body): Promise<string> => (await mandate.call('GET', `/api/v1/tasks/${id}/result`, { token })).text;
const cancel = ({ id }: Body) => mandate.call('POST', `/api/v1/tasks/${id}/cancellation`, { token });
const eventsOf = async ({ id }: Body): Promise<string[]> =>
  (await query(`select type from events where subject_type = 'task' and subject_id = ? order by id`, [id])).map(({ type }) => type);
const leaseEnds = ({ id }: Body) => query(`update tasks set lease_until = now() where id = ? and status = 'running'`, [id]);

describe('a task', () => {
  test('succeeds: queued, running, succeeded, with an event', async () => {
    const task = await start();
    const seen: Body[] = [];
    await carryOutTasks(
      mandate,
      interrupted(async (step) => seen.push([step, await read(task)])),
    );
    expect(seen.map(([step, { status, progress }]) => [step, status, progress.processed, progress.total])).toEqual([
      [1, 'running', 0, null],
      ...[0, 500, 1000, 1500, 2000].map((processed, at) => [at + 2, 'running', processed, 2400]),
    ]);
    expect(await read(task)).toMatchObject({ status: 'succeeded', progress: { processed: 2400, total: 2400 } });
    expect(await eventsOf(task)).toEqual(['task.succeeded']);
  });

  test('goes on after a crash at any step, and writes the same file', async () => {
    const whole = await start();
    await carryOutTasks(mandate);
    const expected = await result(whole);
    for (let step = 1; step <= 6; step += 1) {
      const task = await start();
      await dyingAt(mandate, step);
      expect(await carryOutTasks(mandate)).toBe(0); // its lease still holds
      await leaseEnds(task);
      expect(await carryOutTasks(mandate)).toBe(1);
      expect(await result(task)).toBe(expected);
      expect([(await read(task)).result.rows, await eventsOf(task)]).toEqual([2400, ['task.succeeded']]);
    }
  });

  test('changes nothing any more for a holder whose lease has been taken over', async () => {
    const task = await start();
    const asleep = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    const first = carryOutTasks(
      mandate,
      interrupted((step) => {
        if (step !== 3) return undefined;
        asleep.resolve();
        return late.promise;
      }),
    );
    await asleep.promise;
    await leaseEnds(task);
    await carryOutTasks(mandate);
    const [before, file] = [await read(task), await result(task)];
    late.resolve();
    await first;
    expect([await read(task), await result(task), await eventsOf(task)]).toEqual([before, file, ['task.succeeded']]);
    expect(file.trimEnd().split('\r\n')).toHaveLength(2401);
  });

  test('is put back when the process is asked to stop, and goes on at once elsewhere', async () => {
    const task = await start();
    const stop = new AbortController();
    await carryOutTasks(
      mandate,
      interrupted((step) => (step === 4 ? stop.abort() : undefined)),
      stop,
    );
    expect(await read(task)).toMatchObject({ status: 'running', progress: { processed: 1000 } });
    expect(await carryOutTasks(mandate)).toBe(1);
    expect((await result(task)).trimEnd().split('\r\n')).toHaveLength(2401);
  });

  test('is tried again later after a failure that is not its own, and given up after the tenth', async () => {
    const task = await start();
    const log = pino({ level: 'silent' });
    const broken: TaskHandler = () => Promise.reject(new Error('planted'));
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      expect(await carryOutTasks(mandate, { order_export: broken }, { log })).toBe(1);
      expect(await carryOutTasks(mandate, { order_export: broken }, { log })).toBe(0);
      await leaseEnds(task);
    }
    expect((await read(task)).status).toBe('running');
    await carryOutTasks(mandate, { order_export: broken });
    const failed = await read(task);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'gave_up' }, result: null });
    expect(JSON.stringify(failed)).not.toContain('planted');
    expect(await eventsOf(task)).toEqual(['task.failed']);
    expect((await mandate.call('GET', `/api/v1/tasks/${task.id}/result`, { token })).status).toBe(404);
  });

  test('fails with a reason for whoever started it', async () => {
    const task = await start();
    await carryOutTasks(mandate, {
      order_export: () => Promise.reject(new PermanentTaskError('too_many_rows', 'There are too many rows.')),
    });
    expect(await read(task)).toMatchObject({ status: 'failed', error: { code: 'too_many_rows', detail: 'There are too many rows.' } });
  });

  test.each([
    ['is suspended', `update users set status = 'suspended' where id = ?`],
    ['is no longer a member of staff', `update users set role = 'customer' where id = ?`],
  ])('goes no further when whoever started it %s', async (_what, change) => {
    const boss = await signUpAs(mandate.db, mandate.origin, 'staff');
    const { access_token: as } = await tokensFor(mandate.origin, boss, ['orders.read', 'orders.manage', 'tasks.read', 'tasks.write']);
    const { body: task } = await mandate.call('POST', '/api/v1/order-exports', { token: as, body: {} });
    await carryOutTasks(
      mandate,
      interrupted((step) => (step === 3 ? query(change, [boss.id]) : undefined)),
    );
    const [row] = await query('select status, processed, error from tasks where id = ?', [task.id]);
    expect(row).toMatchObject({ status: 'failed', processed: 500, error: { code: 'forbidden' } });
  });

  test('is canceled while it waits, and never begun', async () => {
    const task = await start();
    const canceled = await cancel(task);
    expect([canceled.status, canceled.body.status, canceled.body.finished_at]).toEqual([202, 'canceled', expect.any(String)]);
    expect(await carryOutTasks(mandate)).toBe(0);
    expect(await eventsOf(task)).toEqual(['task.canceled']);
  });

  test('is canceled while it runs: the next step is not taken, and what was written is swept', async () => {
    const task = await start();
    let last = 0;
    await carryOutTasks(
      mandate,
      interrupted(async (step) => {
        last = step;
        if (step === 3) await cancel(task);
      }),
    );
    expect([last, (await read(task)).status, await eventsOf(task)]).toEqual([3, 'canceled', ['task.canceled']]);
    expect((await mandate.call('GET', `/api/v1/tasks/${task.id}/result`, { token })).status).toBe(404);
    await query(`update task_files set created_at = now() - interval '2 days'`);
    await deleteOldTaskData(mandate.db.em.fork());
    expect(await query(`select 1 from task_files f where not exists (select 1 from tasks where output_id = f.id)`)).toEqual([]);
  });

  test.skipIf(databaseKind === 'pglite')('is carried out once, however many processes look for work', async () => {
    const tasks = [await start(), await start()];
    const counts = await Promise.all(Array.from({ length: 6 }, () => carryOutTasks(mandate)));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2);
    for (const task of tasks) expect([await eventsOf(task), (await read(task)).result.rows]).toEqual([['task.succeeded'], 2400]);
  });

  test('holds its lease at every step', async () => {
    const task = await start();
    await carryOutTasks(
      mandate,
      interrupted(async (step) => {
        if (step === 1) return;
        const [row] = await query('select extract(epoch from lease_until - now())::int as left from tasks where id = ?', [task.id]);
        expect(row.left).toBeGreaterThan(7);
        await query(`update tasks set lease_until = now() + interval '1 second' where id = ?`, [task.id]);
      }),
    );
    expect((await read(task)).status).toBe('succeeded');
  });
});

describe('what is kept', () => {
  const aged = ({ id }: Body, days: number) =>
    query(`update tasks set finished_at = now() - make_interval(days => ?) where id = ?`, [days, id]);
  const status = async (path: string): Promise<[number, string]> => {
    const { status: code, body } = await mandate.call('GET', path, { token });
    return [code, body?.code];
  };

  test('a result for 7 days, a task for 30, and then they are gone, before and after they are swept', async () => {
    const task = await start();
    await carryOutTasks(mandate);
    const [path, file] = [`/api/v1/tasks/${task.id}`, `/api/v1/tasks/${task.id}/result`];
    for (const [days, answers] of [
      [6, [200, 200]],
      [8, [200, 410]],
      [31, [410, 410]],
    ] as const) {
      await aged(task, days);
      for (const sweep of [false, true]) {
        if (sweep) while ((await deleteOldTaskData(mandate.db.em.fork())) > 0);
        expect([(await status(path))[0], (await status(file))[0]], `${days} days, swept: ${sweep}`).toEqual(answers);
      }
    }
    expect(await status(path)).toEqual([410, 'gone']);
    expect(await query('select params, result, output_id from tasks where id = ?', [task.id])).toEqual([
      { params: {}, result: null, output_id: null },
    ]);
    expect((await mandate.call('GET', '/api/v1/tasks?limit=100', { token })).body.data.map(({ id }: Body) => id)).not.toContain(task.id);
  });

  test('no file that nobody refers to for longer than a day, and every other', async () => {
    const em = mandate.db.em.fork();
    const [fresh, old] = [await createStoredFile(em), await createStoredFile(em)];
    await appendToStoredFile(em, old, 0, Buffer.from('x'));
    await query(`update task_files set created_at = now() - interval '2 days' where id = ?`, [old]);
    const task = await start();
    await dyingAt(mandate, 4);
    await query(`update task_files set created_at = now() - interval '2 days' where id <> ?`, [fresh]);
    await deleteOldTaskData(em);
    expect(await query('select id from task_files where id in (?, ?)', [fresh, old])).toEqual([{ id: fresh }]);
    await leaseEnds(task);
    await carryOutTasks(mandate);
    expect((await result(task)).trimEnd().split('\r\n')).toHaveLength(2401);
  });
});
