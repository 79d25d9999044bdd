import { describe, expect, test } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { startOrderImport } from './start-order-import.ts';
import { completeImport, runPendingTasks, abandonTaskAtStep, hookTaskSteps } from '../../support/shop/run-tasks.ts';

const shop = withShop();

const start = (body: string, query: object = {}, contentType = 'text/csv') => startOrderImport(shop, body, query, contentType);
const runImport = async (body: string, query: object = {}, contentType = 'text/csv') =>
  completeImport(shop, shop.token, await start(body, query, contentType));
const query = async (sql: string, parameters: unknown[] = []): Promise<JsonBody[]> => shop.db.em.fork().execute(sql, parameters);

describe('a canceled import', () => {
  test('reports its counts, and imports no more orders', async () => {
    const csv = `reference,created_at,customer,sku,quantity,unit_price\n${Array.from({ length: 1000 }, (_, n) => `CAN-${n},2020-01-01,c,CAN,${n % 10 === 9 ? 0 : 1},5\n`).join('')}`;
    const { body: task } = await start(csv);
    expect(task.imported).toEqual({ created: 0, updated: 0, unchanged: 0, refused: 0, differing: 0 });
    const getTask = async (): Promise<JsonBody> => (await shop.callApi('GET', `/api/v1/tasks/${task.id}`, { token: shop.token })).body;
    let canceled: JsonBody;
    const importedCounts: JsonBody[] = [];
    await runPendingTasks(
      shop,
      hookTaskSteps(async (step) => {
        importedCounts.push((await getTask()).imported);
        if (step === 4) ({ body: canceled } = await shop.callApi('POST', `/api/v1/tasks/${task.id}/cancellation`, { token: shop.token }));
      }),
    );
    const counts = { created: 180, updated: 0, unchanged: 0, refused: 20, differing: 0 };
    expect(canceled).toMatchObject({ status: 'canceled', progress: { processed: 200, total: 1000 }, imported: counts, result: null });
    expect(await getTask()).toEqual(canceled);
    expect(importedCounts.map(({ created }) => created)).toEqual([0, 0, 90, 180]);
    const [row] = await query(`select count(*)::int as count from imported_orders where reference like 'CAN-%'`);
    expect(row).toEqual({ count: 180 });
    const [event] = await query(`select data -> 'imported' as imported from events where type = 'task.canceled' and subject_id = ?`, [
      task.id,
    ]);
    expect(event).toEqual({ imported: counts });
  });
});

describe('rows of an order that are not adjacent', () => {
  test.each([
    ['one partition', 1, 0],
    ['two partitions', 2, 3500],
  ])('are combined in %s, even after crashes', async (_name, partitions, fillerLength) => {
    const prefix = `SC${partitions}`;
    const filler = 'x'.repeat(fillerLength);
    const rows = Array.from(
      { length: 3000 },
      (_, n) => `${prefix}-${n % 150},2020-01-01,s,SC-${n % 7},${1 + Math.floor(n / 150)},5,${filler}\n`,
    );
    const { body: task } = await start(`reference,created_at,customer,sku,quantity,unit_price,filler\n${rows.join('')}`);
    for (const step of [2, 3, 5]) {
      await abandonTaskAtStep(shop, step);
      const [stored] = await query(
        `update tasks set lease_until = now() where id = ? returning jsonb_array_length(checkpoint::jsonb -> 'partitions') as partitions`,
        [task.id],
      );
      expect(stored).toEqual({ partitions });
    }
    await runPendingTasks(shop);
    const { body: done } = await shop.callApi('GET', `/api/v1/tasks/${task.id}`, { token: shop.token });
    expect(done).toMatchObject({
      status: 'succeeded',
      progress: { processed: 3000, total: 3000 },
      imported: { created: 150, updated: 0, unchanged: 0, refused: 0, differing: 0 },
    });
    const incorrectOrders = await query(
      `select o.reference from orders o join order_items i on i.order_id = o.id where o.reference like ?
        group by o.id having array_agg(i.quantity order by i.line) <> array(select generate_series(1, 20))`,
      [`${prefix}-%`],
    );
    expect(incorrectOrders).toEqual([]);
  });

  test('an order with more rows than the limit is rejected', async () => {
    const rows = Array.from({ length: 10_001 }, () => 'BIG,2020-01-01,b,BIG,1,5\n');
    const { counts, remarks, task } = await runImport(`reference,created_at,customer,sku,quantity,unit_price\n${rows.join('')}`);
    expect([counts.refused, task.progress.processed]).toEqual([1, 10_001]);
    expect(remarks).toMatchObject([{ line: 2, reference: 'BIG', code: 'out_of_range', detail: expect.stringContaining('10001 rows') }]);
  });
});
