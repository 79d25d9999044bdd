import { afterEach, expect, test } from 'vitest';
import { obtainLimitedTokens, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { cliClient, signUpWithRole } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { startOrderImport } from './start-order-import.ts';

const shop = withShop();
const limits = { currency: 'EUR', per_period: 100, period: 'month' };

async function setCeiling(ceiling: object | null): Promise<void> {
  const { token } = shop;
  const applications: JsonBody[] = (await shop.callApi('GET', '/api/v1/applications?limit=100', { token })).body.data;
  const id = applications.find(({ client_id: clientId }) => clientId === cliClient.clientId)?.id;
  const { status } = await shop.callApi('PATCH', `/api/v1/applications/${id}`, { token, body: { order_limits_ceiling: ceiling } });
  expect(status).toBe(200);
}
afterEach(() => setCeiling(null));

/** Connects an application to a staff user's account, and starts an import through the application. */
async function startImport(details: RequestedLimits | undefined, ceiling: object | null): Promise<ApiResponse> {
  await setCeiling(ceiling);
  const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
  const { access_token: token } = await obtainLimitedTokens(shop.origin, staff, ['tasks.write', 'orders.manage'], details);
  const csv = 'reference,created_at,customer,sku,quantity,unit_price\nL-1,2020-01-01,x,T,1,5\n';
  return startOrderImport({ ...shop, token }, csv, { unknown_customers: 'refuse', unknown_products: 'refuse' });
}

const countTasks = (): Promise<{ n: number }[]> => shop.db.em.fork().execute<{ n: number }[]>('select count(*)::int as n from tasks');

test.each<[string, RequestedLimits | undefined, object | null]>([
  ['limits of the user', { limits }, null],
  ['permitted actions only', { actions: ['place'] }, null],
  ['only a ceiling', undefined, limits],
])('403 for an application of staff with %s, and no task is created', async (_name, details, ceiling) => {
  const before = await countTasks();
  const { status, body } = await startImport(details, ceiling);
  expect([status, body.code, body.detail]).toEqual([403, 'forbidden', 'An application with order limits cannot import orders.']);
  expect(await countTasks()).toEqual(before);
});

test('202 for the same import by an application without limits', async () => {
  const before = await countTasks();
  expect((await startImport(undefined, null)).status).toBe(202);
  expect(await countTasks()).toEqual([{ n: (before[0]?.n ?? 0) + 1 }]);
});
