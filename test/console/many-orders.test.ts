import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fillOrders } from '../scale/fill-orders.ts';
import { hasChromium } from '../support/browser/chromium.ts';
import { signUpWithRole } from '../support/oauth/oauth-flow.ts';
import { databaseKind } from '../support/services/database.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { useConsoleBrowser } from './console-browser.ts';

/** Number of orders; `MANDATE_CONSOLE_ORDERS=100000` runs a thorough test, which prints how long each step takes. */
const given = process.env['MANDATE_CONSOLE_ORDERS'];
const orderCount = Number(given ?? 2_000);
const pageSize = 25;
const lastPage = 50;
const listSchema = z.object({ data: z.array(z.unknown()) });

describe.skipIf(!hasChromium || databaseKind === 'pglite')(`a list of ${orderCount} orders`, { timeout: 300_000 }, () => {
  const shop = withShop();
  const browser = useConsoleBrowser(shop);
  let page: Page;
  let requests: Request[] = [];
  beforeAll(async () => {
    await fillOrders(shop.db.em.fork(), orderCount, () => undefined);
    page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'staff'));
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/v1/orders') requests.push(request);
    });
  }, 300_000);

  /** Performs a step, waits until the list begins with the given order, and returns the requests for orders. */
  async function listRequests(name: string, step: () => Promise<unknown>, firstId: number): Promise<URLSearchParams[]> {
    requests = [];
    const startedAt = performance.now();
    await step();
    await page
      .locator('tbody tr')
      .first()
      .getByRole('link', { name: `#${firstId}`, exact: true })
      .waitFor();
    if (given !== undefined) process.stderr.write(`${name}: ${(performance.now() - startedAt).toFixed(0)} ms\n`);
    expect(await page.locator('tbody tr').count()).toBe(pageSize);
    return requests.map((request) => new URL(request.url()).searchParams);
  }

  test('is shown in pages of 25 rows, each of which is one request for 25 rows after a cursor', async () => {
    const first = await listRequests('first page', () => page.goto(`${shop.origin}/console/orders`), orderCount);
    expect(first.map((query) => [query.get('limit'), query.get('cursor')])).toEqual([['25', null]]);
    for (let number = 2; number <= lastPage; number += 1) {
      const next = () => page.getByRole('button', { name: 'Next' }).click();
      const sent = await listRequests(`page ${number}`, next, orderCount - (number - 1) * pageSize);
      expect(sent.map((query) => [query.get('limit'), query.get('cursor') !== null, query.has('include_total')])).toEqual([
        ['25', true, false],
      ]);
      const response = await requests[0]?.response();
      expect(listSchema.parse(await response?.json()).data).toHaveLength(pageSize);
    }
  });

  test.each(['number', 'reference', 'e-mail address'])('is searched by %s with one request', async (name) => {
    const id = name === 'e-mail address' ? orderCount - 1 : orderCount - 10;
    const [{ email } = { email: '' }] = await shop.db.em
      .fork()
      .execute<{ email: string }[]>('select email from users where id = (select user_id from orders where id = ?)', [id]);
    const text = { number: String(id), reference: `R-${id}`, 'e-mail address': email }[name] ?? '';
    await page.goto(`${shop.origin}/console/orders`);
    await page
      .locator('tbody tr')
      .nth(pageSize - 1)
      .waitFor();
    requests = [];
    const startedAt = performance.now();
    await page.getByRole('searchbox').fill(text);
    await expect.poll(() => page.locator('tbody tr').count()).toBeLessThan(pageSize);
    await page.getByRole('link', { name: `#${id}`, exact: true }).waitFor();
    if (given !== undefined) process.stderr.write(`search by ${name}: ${(performance.now() - startedAt).toFixed(0)} ms\n`);
    expect(requests.map((request) => new URL(request.url()).searchParams.get('q'))).toEqual([text]);
  });
});
