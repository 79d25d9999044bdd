import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import { replaceTokens, useConsoleBrowser } from '../console/console-browser.ts';
import { navigateInConsole, visitPages } from '../console/visit-pages.ts';
import { hasChromium } from '../support/browser/chromium.ts';
import { obtainTokens, signUp, signUpWithRole } from '../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../support/server/start-mandate.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { completeTask, runPendingTasks, abandonTaskAtStep } from '../support/shop/run-tasks.ts';
import { onlineRetailRules } from './import-month.ts';
import { hasMonthFile, monthFile } from './month-file.ts';

const rules = { source: 'online-retail', ...onlineRetailRules, bad_lines: 'leave_out', free_lines: 'refuse' };
const query = new URLSearchParams(rules).toString();

const figures = { orders: 1_400, lines: 26_157, pence: 57_271_389, customers: 885 };

describe.skipIf(!hasMonthFile)(
  `importing a real month of orders${hasMonthFile ? '' : ' (set MANDATE_RETAIL_FILE to the file that docs/testing.md names)'}`,
  { timeout: 300_000 },
  () => {
    let month: string;
    const shop = withShop();
    beforeAll(async () => {
      const bytes = await readFile(monthFile);
      month = (monthFile.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
    });

    const start = (more = ''): Promise<ApiResponse> =>
      shop.callApi('POST', `/api/v1/order-imports?${query}${more}`, {
        token: shop.token,
        body: month,
        headers: { 'content-type': 'text/csv' },
      });
    const imported = async (): Promise<JsonBody> => {
      const [row] = await shop.db.em.fork().execute(
        `select (select count(*)::int from orders) as orders, (select count(*)::int from order_items) as lines,
                (select sum(total)::int from orders) as pence, (select count(distinct user_id)::int from orders) as customers`,
      );
      return row;
    };

    test('a dry run stores nothing, an interrupted import completes, and a second import changes nothing', async () => {
      const trial = await completeTask(shop, shop.token, await start('&dry_run=true'));
      expect(trial.task.result.imported).toMatchObject({ created: figures.orders, unchanged: 0 });
      expect(await imported()).toEqual({ orders: 0, lines: 0, pence: null, customers: 0 });

      const first = await start();
      expect(first.status, first.text).toBe(202);
      for (const step of [2, 20, 50]) {
        await abandonTaskAtStep(shop, step);
        await shop.db.em.fork().execute('update tasks set lease_until = now() where id = ?', [first.body.id]);
      }
      await runPendingTasks(shop);
      const { body: task } = await shop.callApi('GET', `/api/v1/tasks/${first.body.id}`, { token: shop.token });
      expect(task.progress).toEqual({ processed: 42_481, total: 42_481 });
      expect(task.result.imported).toEqual(trial.task.result.imported);
      expect(await imported()).toEqual(figures);

      const { task: again } = await completeTask(shop, shop.token, await start());
      expect(again.result.imported).toEqual({ ...trial.task.result.imported, created: 0, unchanged: figures.orders });
      expect(await imported()).toEqual(figures);
    });

    test('the export has the same totals', async () => {
      const body = { rows: 'lines', columns: ['id', 'user_id', 'unit_price', 'quantity', 'line_total_decimal', 'currency'] };
      const { file: exported } = await completeTask(
        shop,
        shop.token,
        await shop.callApi('POST', '/api/v1/order-exports', { token: shop.token, body }),
      );
      const rows: JsonBody[] = parse(exported, { columns: true });
      const pence = rows.reduce((sum, row) => sum + Number(row.unit_price) * Number(row.quantity), 0);
      const decimal = rows.reduce((sum, row) => sum + Math.round(Number(row.line_total_decimal) * 100), 0);
      expect({
        lines: rows.length,
        pence,
        decimal,
        orders: new Set(rows.map((row) => row.id)).size,
        customers: new Set(rows.map((row) => row.user_id)).size,
      }).toEqual({ ...figures, decimal: figures.pence });
    });

    describe.skipIf(!hasChromium)('the console', () => {
      const browser = useConsoleBrowser(shop);

      test('every page shows the month to an administrator', async () => {
        const admin = await shop.createAccount('admin', ['orders.manage', 'applications.manage', 'webhooks.write']);
        const get = async (path: string): Promise<JsonBody> => (await admin.callApi('GET', `/api/v1${path}`)).body;
        const { data: orders } = await get('/orders?reference=536365&include=customer');
        const order = await get(`/orders/${orders[0].id}`);
        const { product_id: productId, sku } = order.items[0];
        const { data: applications } = await get('/applications?limit=100');
        const application = applications.find(({ name }: JsonBody) => name === 'Console');
        const body = { url: 'https://receiver.example.com/hooks', events: ['order.*'] };
        const { body: endpoint } = await admin.callApi('POST', '/api/v1/webhook-endpoints', { body });
        const page = await browser.openAs(admin, '/');
        await visitPages(page, [
          { path: '/', shows: /Latest orders[^]*#\d+ Customer/ },
          { path: '/orders', shows: /25 rows/ },
          { path: '/orders?q=536365', shows: /£139\.12/ },
          { path: `/orders/${order.id}`, shows: /WHITE HANGING HEART T-LIGHT HOLDER[^]*£139\.12/ },
          { path: '/products', shows: /25 rows/ },
          { path: '/products/new', shows: /Tax rate/ },
          { path: '/products/import', shows: /Choose a file/ },
          { path: `/products/${productId}`, shows: sku },
          { path: '/customers', shows: /25 rows/ },
          { path: `/customers/${order.user_id}`, shows: /All orders[^]*#\d+/ },
          { path: '/applications', shows: /Console/ },
          { path: '/applications/new', shows: /Program that acts for the shop/ },
          { path: `/applications/${application.id}`, shows: /mandate-console/ },
          { path: '/developers/webhooks', shows: /Add endpoint/ },
          { path: `/developers/webhooks/${endpoint.id}`, shows: /receiver\.example\.com/ },
          { path: '/developers/events', shows: /Live|Not live/ },
          { path: '/developers/api-keys', shows: /No API keys yet/ },
          { path: '/developers/signing-keys', shows: /ES256/ },
          { path: '/audit', shows: /Signed in/ },
          { path: '/audit/grants', shows: /Application access/ },
          { path: '/settings/branding', shows: /Accent color/ },
          { path: '/settings/delivery', shows: /Pick up/ },
          { path: '/settings/staff', shows: /Administrator/ },
          { path: '/settings/backups', shows: /No backup directory is configured[^]*npx mandate-server backup/ },
        ]);
        expect(browser.pageErrors).toEqual([]);
      });

      /** Console pages that list the month's data. Each page's `action` and `operation` require the scope in `required`. */
      const lists = [
        { required: 'orders.manage', path: '/orders', action: 'Approvals', operation: ['GET', '/approvals/all'] },
        { required: 'users.manage', path: '/customers', action: 'Add customer', operation: ['POST', '/users'] },
        { required: 'products.write', path: '/products', action: 'Create product', operation: ['POST', '/products'] },
      ] as const;

      test('shows the month to staff with a single scope only as far as the scope permits, and not to customers', async () => {
        const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
        const page = await browser.openAs(staff);
        let token = '';
        await replaceTokens(page, () => token);
        for (const { required: scope } of lists) {
          ({ access_token: token } = await obtainTokens(shop.origin, staff, [scope]));
          await page.goto(`${shop.origin}/console`);
          await page.locator('h1').waitFor();
          for (const { required, path, action, operation } of lists) {
            const isPermitted = required === scope;
            if (isPermitted) await visitPages(page, [{ path, shows: /25 rows/ }]);
            // the imported products are archived, so other users do not see them
            else if (path === '/products') await visitPages(page, [{ path, shows: /No products yet/ }]);
            else {
              await navigateInConsole(page, path);
              await page.getByRole('heading', { name: 'Page not found' }).waitFor();
            }
            const actions = page.locator('main').getByText(action, { exact: true });
            await expect.poll(() => actions.count(), { message: `${action} with ${scope}` }).toBe(isPermitted ? 1 : 0);
            const [method, route] = operation;
            const { body } = await shop.callApi(method, `/api/v1${route}`, { token, ...(method === 'POST' && { body: [] }) });
            expect([scope, route, body.code === 'insufficient_scope']).toEqual([scope, route, !isPermitted]);
          }
        }
        ({ access_token: token } = await obtainTokens(shop.origin, await signUp(shop.origin), ['orders.read']));
        await page.goto(`${shop.origin}/console/orders`);
        await page.getByRole('heading', { name: 'Your account has no access to the console' }).waitFor();
        expect(browser.pageErrors).toEqual([]);
      });
    });
  },
);
