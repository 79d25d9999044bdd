/** Tests errors that make a task fail immediately, and errors after which the task is retried. */
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { ZodError } from 'zod';
import { createProblem } from '../../../server/http/problem-details/problem.ts';
import { taskHandlersByType } from '../../../server/app/task-handlers.ts';
import type { TaskHandler } from '../../../server/tasks/task-attempt.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { runPendingTasks } from '../../support/shop/run-tasks.ts';
import { useExportTasks } from './use-export-tasks.ts';

const shop = withShop({ sampleData: false });
const anna = shop.customer(['orders.read', 'tasks.read', 'tasks.write']);
const { query, startExport, getTask, eventsOf, expireLease } = useExportTasks(shop, anna);

describe('a task', () => {
  test('fails immediately and frees its slot if its stored options can never be processed', async () => {
    const tasks = [await startExport(), await startExport()];
    await query(`update tasks set params = params || '{"created_at_gte": "0000-01-01T00:00:00Z"}' where finished_at is null`);
    expect(await runPendingTasks(shop, taskHandlersByType, { log: pino({ level: 'silent' }) })).toBe(2);
    for (const task of tasks) {
      expect(await getTask(task)).toMatchObject({
        status: 'failed',
        error: { code: 'invalid_data', detail: 'A value is outside the range that can be stored.' },
      });
      expect(await query('select attempts from tasks where id = ?', [task.id])).toEqual([{ attempts: 1 }]);
      expect(await eventsOf(task)).toEqual(['task.failed']);
    }
    expect((await startExport()).status).toBe('queued');
    await runPendingTasks(shop);
  });

  const databaseError = (code: string): Error => Object.assign(new Error('planted'), { code });
  const failingWith =
    (cause: () => unknown): TaskHandler =>
    async ({ em }) => {
      const sql = cause();
      if (typeof sql !== 'string') throw sql;
      await em.execute(sql);
      throw new Error('the statement did not fail');
    };
  const attempt = async (cause: () => unknown): Promise<JsonBody> => {
    const task = await startExport();
    await runPendingTasks(shop, { order_export: failingWith(cause) }, { log: pino({ level: 'silent' }) });
    const [row] = await query('select status, error, attempts from tasks where id = ?', [task.id]);
    await query(`update tasks set status = 'canceled', finished_at = now() where finished_at is null`);
    return row;
  };

  test.each([
    ['a timestamp out of range', `select '0000-01-01'::timestamptz`, 'invalid_data'],
    ['a number out of range', `select 99999999999999999999::bigint`, 'invalid_data'],
    ['text that is not a number', `select 'x'::int`, 'invalid_data'],
    ['a division by zero', `select 1 / 0`, 'invalid_data'],
    ['a check constraint', `update users set role = 'king'`, 'invalid_data'],
    ['a missing value', `update users set name = null`, 'invalid_data'],
    ['a row that is too large', databaseError('54000'), 'invalid_data'],
    ['an impossible date', new RangeError('Invalid time value'), 'invalid_data'],
    ['options that do not match the schema', new ZodError([]), 'invalid_params'],
    ['a request problem', createProblem('not_found', { detail: 'User 7 was not found.' }), 'not_found'],
  ])('fails at the first attempt after a permanent error: %s', async (_label, cause, code) => {
    const row = await attempt(() => cause);
    expect(row).toMatchObject({ status: 'failed', attempts: 1, error: { code } });
    expect(JSON.stringify(row)).not.toContain('planted');
  });

  test.each(['08006', '40001', '40P01', '53100', '53300', '55P03', '57014', '57P01', 'ECONNREFUSED', '23505'])(
    'is retried after a transient error: %s',
    async (code) => {
      expect(await attempt(() => databaseError(code))).toMatchObject({ status: 'running', attempts: 1, error: null });
    },
  );

  test('treats a repeated unique violation as permanent', async () => {
    const task = await startExport();
    for (const expected of ['running', 'running', 'failed']) {
      await runPendingTasks(shop, { order_export: failingWith(() => databaseError('23505')) }, { log: pino({ level: 'silent' }) });
      expect((await getTask(task)).status).toBe(expected);
      await expireLease(task);
    }
  });
});
