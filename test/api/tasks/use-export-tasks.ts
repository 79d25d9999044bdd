import { beforeEach, expect } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import type { Account, Shop } from '../../support/shop/with-shop.ts';

/** Returns functions that start and inspect a user's export tasks. Before each test, unfinished tasks are canceled. */
export function useExportTasks(shop: Shop, user: Account) {
  const query = (sql: string, parameters: unknown[] = []): Promise<JsonBody[]> => shop.db.em.fork().execute(sql, parameters);
  beforeEach(() => query(`update tasks set status = 'canceled', finished_at = now() where finished_at is null`));
  return {
    query,
    startExport: async (): Promise<JsonBody> => {
      const response = await user.callApi('POST', '/api/v1/order-exports', { body: { columns: ['id', 'total'] } });
      expect(response.status, response.text).toBe(202);
      return response.body;
    },
    getTask: async ({ id }: JsonBody): Promise<JsonBody> => (await user.callApi('GET', `/api/v1/tasks/${id}`)).body,
    eventsOf: async ({ id }: JsonBody): Promise<string[]> =>
      (await query(`select type from events where subject_type = 'task' and subject_id = ? order by id`, [id])).map(({ type }) => type),
    expireLease: ({ id }: JsonBody) => query(`update tasks set lease_until = now() where id = ? and status = 'running'`, [id]),
  };
}
