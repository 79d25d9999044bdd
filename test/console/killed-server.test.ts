import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOrderClient, placeOrder, readOrder, type OrderClient } from '../process/lifecycle/order-client.ts';
import { hasChromium } from '../support/browser/chromium.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { KillableServer } from '../support/server/killable-server.ts';
import { createDataDirectory, killServerProcesses, readFirstRunFile } from '../support/server/server-process.ts';
import { createMigratedPostgresqlUrl, databaseKind } from '../support/services/database.ts';
import { useConsoleBrowser } from './console-browser.ts';

describe.skipIf(!hasChromium)('the console while the server is killed and restarted', { timeout: 120_000 }, () => {
  let directory: Awaited<ReturnType<typeof createDataDirectory>>;
  let server: KillableServer;
  let url: string;
  let orderClient: OrderClient;
  let page: Page;
  const browser = useConsoleBrowser({
    get origin() {
      return url;
    },
  });
  beforeAll(async () => {
    directory = await createDataDirectory();
    server = new KillableServer({
      MANDATE_DATA_DIR: directory.path,
      PORT: String(await findFreePort()),
      ...(databaseKind === 'postgresql' && { DATABASE_URL: await createMigratedPostgresqlUrl() }),
    });
    url = await server.start();
    orderClient = await createOrderClient(url, directory.path);
    page = await browser.openAs((await readFirstRunFile(directory.path)).administrator);
  }, 120_000);
  afterAll(async () => {
    await killServerProcesses();
    await directory[Symbol.asyncDispose]();
  });

  const openTab = async (path: string): Promise<Page> => {
    const tab = await page.context().newPage();
    await tab.goto(`${url}/console${path}`);
    return tab;
  };
  const dialog = (tab: Page): Locator => tab.getByRole('dialog');
  const enterNote = async (tab: Page, note: string): Promise<void> => {
    await tab.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialog(tab).getByLabel('Note').fill(note);
  };
  const save = (tab: Page): Promise<void> => dialog(tab).getByRole('button', { name: 'Save', exact: true }).click();
  const readNote = async (id: number): Promise<unknown> => (await readOrder(orderClient, id))['note'];

  test('shows the interruption, recovers without being reloaded, and keeps entered and saved data', async () => {
    const { id } = await placeOrder(orderClient, 'first');
    const [list, detail] = [await openTab('/orders'), await openTab(`/orders/${id}`)];
    const orderInList = (orderId: number): Locator => list.getByRole('link', { name: `#${orderId}`, exact: true });
    await orderInList(id).waitFor();
    await enterNote(detail, 'Saved before');
    await save(detail);
    await detail.getByRole('main').getByText('Saved before').waitFor();
    await enterNote(detail, 'Entered before');

    await server.kill();
    await list.getByRole('img', { name: /^Not live/ }).waitFor();
    await list.getByRole('link', { name: 'Unpaid' }).click();
    await list.getByRole('alert').getByText('The server cannot be reached.').waitFor();
    await save(detail);
    await dialog(detail).getByRole('alert').getByText('The server cannot be reached.').waitFor();
    expect(await dialog(detail).getByLabel('Note').inputValue()).toBe('Entered before');

    await server.start();
    await list.getByRole('img', { name: /^Live/ }).waitFor();
    await orderInList(id).waitFor();
    expect(await list.getByRole('alert').count()).toBe(0);
    expect(await readNote(id)).toBe('Saved before');
    await save(detail);
    await dialog(detail).waitFor({ state: 'detached' });
    expect(await readNote(id)).toBe('Entered before');
    await orderInList((await placeOrder(orderClient, 'second')).id).waitFor();
  });

  test('saves a change during which the server is killed, or keeps it in the form', async () => {
    const { id } = await placeOrder(orderClient, 'third');
    const tab = await openTab(`/orders/${id}`);
    await enterNote(tab, 'Ring twice');
    await Promise.all([save(tab), server.kill()]);
    await server.start();
    await expect
      .poll(async () => {
        if ((await dialog(tab).count()) === 0) return readNote(id);
        expect(await dialog(tab).getByLabel('Note').inputValue()).toBe('Ring twice');
        if ((await dialog(tab).getByRole('alert').count()) > 0) await save(tab);
        return 'still open';
      })
      .toBe('Ring twice');
  });

  test('keeps the entered data on a page whose data cannot be reloaded for some time', async () => {
    const path = `/products/${orderClient.productId}`;
    const tab = await openTab(path);
    await tab.getByRole('img', { name: /^Live/ }).waitFor();
    const description = tab.getByLabel('Description');
    await description.fill('Half of a sentence');
    // The event makes the console load the product again.
    const changePrice = async (price: number): Promise<void> => {
      const headers = { authorization: `Bearer ${orderClient.token}`, 'content-type': 'application/json' };
      const response = await fetch(`${url}/api/v1${path}`, { method: 'PATCH', headers, body: JSON.stringify({ price }) });
      expect(response.status).toBe(200);
    };
    let failures = 0;
    await tab.route(`**/api/v1${path}`, async (route) => {
      failures += 1;
      await route.abort();
    });
    await changePrice(300);
    // The client retries the request twice.
    await expect.poll(() => failures).toBe(3);
    await tab.unroute(`**/api/v1${path}`);
    const loaded = tab.waitForResponse((response) => response.url() === `${url}/api/v1${path}` && response.ok());
    await changePrice(400);
    await loaded;
    expect(await description.inputValue()).toBe('Half of a sentence');
    expect(await tab.getByRole('alert').count()).toBe(0);
  });
});
