import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scopeNames } from '@mandate/contract';
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { createBackupTaskHandlers } from '../../server/backup/backup-task-handlers.ts';
import { createLogger } from '../../server/logging/logger.ts';
import { hasChromium } from '../support/browser/chromium.ts';
import { createSquarePng } from '../support/browser/square-png.ts';
import { signUpWithRole } from '../support/oauth/oauth-flow.ts';
import { backupKey } from '../support/server/backup-file.ts';
import { createMigratedDatabase } from '../support/services/database.ts';
import { runPendingTasks } from '../support/shop/run-tasks.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { checkPageAccessibilityAndLayout, consentTo, useConsoleBrowser, withdrawPreapproval } from './console-browser.ts';

describe.skipIf(!hasChromium)('the settings in the console', { timeout: 240_000 }, () => {
  const shop = withShop({ hasBackupDirectory: true });
  const browser = useConsoleBrowser(shop);
  const admin = shop.admin(['branding.manage']);
  const staff = shop.staff(['settings.write']);
  const providers = shop.admin(['identity_providers.manage']);

  test("change the branding, and show the differences from another administrator's change", async () => {
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'admin'), '/settings');
    await page.getByLabel('Shop name').fill('Corner Shop');
    await page.getByLabel('Accent color').fill('#0b6e4f');
    await page.getByText('up to 256 KiB. The width and the height must be between 16 and 2,048 pixels.').waitFor();
    await page.getByLabel('Sender name').waitFor();
    await checkPageAccessibilityAndLayout(page, 'settings branding');
    await page.getByRole('button', { name: 'Save' }).click();
    const notice = page.getByRole('alert').filter({ hasText: 'The branding has been saved.' });
    await notice.getByRole('button', { name: 'Close' }).click();
    await notice.waitFor({ state: 'detached' });
    expect((await shop.callApi('GET', '/api/v1/branding')).body).toMatchObject({ name: 'Corner Shop', accent_color: '#0b6e4f' });

    await page.locator('input[type=file]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: createSquarePng(64) });
    await page.getByRole('img', { name: 'Logo of Corner Shop' }).waitFor();
    await page.getByRole('button', { name: 'Delete the logo' }).click();
    await page.getByText('No logo').waitFor();
    const notices = page.getByRole('alert');
    await expect.poll(() => notices.allInnerTexts(), { timeout: 2_000 }).toEqual([expect.stringContaining('The logo has been deleted.')]);

    await page.getByLabel('Shop name').fill('Yours');
    expect((await admin.callApi('PATCH', '/api/v1/branding', { body: { name: 'Theirs' } })).status).toBe(200);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Someone else has changed this data').waitFor();
    await page.getByRole('cell', { name: 'Theirs' }).waitFor();
    await expect
      .poll(() => notices.allInnerTexts(), { timeout: 2_000 })
      .toEqual([expect.stringContaining('Someone else has changed this data')]);
    await checkPageAccessibilityAndLayout(page, 'settings conflict');
    await page.getByRole('button', { name: 'Save my changes' }).click();
    await expect.poll(async () => (await shop.callApi('GET', '/api/v1/branding')).body.name).toBe('Yours');
    expect(browser.pageErrors).toEqual([]);
  });

  test('create and check a backup, and show warnings', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mandate-backups-'));
    const handlers = createBackupTaskHandlers({ path: directory, key: backupKey, openSource: createMigratedDatabase });
    const runTasks = () => runPendingTasks(shop, handlers, { log: createLogger(true, { write: () => undefined }) });
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'admin'), '/settings');
    await page.getByRole('link', { name: 'Backups' }).click();
    await page.getByText('No backups yet').waitFor();
    await page.getByRole('button', { name: 'Create backup' }).click();
    await page.getByText('Waiting for the server…').waitFor();
    expect(await page.getByText('No backups yet').count()).toBe(0);
    await checkPageAccessibilityAndLayout(page, 'settings backup in progress');
    await runTasks();
    const row = page.getByRole('row', { name: /mandate-.*\.backup/ });
    await row.getByText('Intact').waitFor();
    await checkPageAccessibilityAndLayout(page, 'settings backups');
    await page.setViewportSize({ width: 390, height: 860 });
    const tabs = await page.getByRole('navigation', { name: 'Sections' }).getByRole('link').all();
    const edges = await Promise.all(tabs.map(async (tab) => (await tab.boundingBox()) ?? { x: 0, width: Infinity }));
    expect(edges.filter(({ x, width }) => x < 0 || x + width > 390)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 860 });

    for (const name of await readdir(directory)) await truncate(join(directory, name), 100);
    await page.getByRole('button', { name: /^Check “mandate-/ }).click();
    await page.getByText('Checking a backup').waitFor();
    await runTasks();
    await page.getByText('The latest backup is damaged and cannot be restored.').waitFor();
    await row.getByText('Damaged').waitFor();
    expect(await page.getByText('damaged and cannot be restored').count()).toBe(1);
    await checkPageAccessibilityAndLayout(page, 'settings damaged backup');

    await shop.db.em.fork().execute(`update backup_files set check_result = 'intact', created_at = now() - interval '3 days'`);
    await page.reload();
    await page.getByText('The latest backup was created 3 days ago.').waitFor();
    await rm(directory, { recursive: true });
    expect(browser.pageErrors).toEqual([]);
  });

  test('create, change and delete a delivery method', async () => {
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'staff'), '/settings');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add delivery method' }).click();
    await dialog.getByLabel('Name').fill('Bicycle courier');
    await dialog.getByLabel('Code').fill('bicycle');
    await dialog.getByLabel('Price').fill('4.50');
    await checkPageAccessibilityAndLayout(page, 'settings add delivery method');
    await dialog.getByRole('button', { name: 'Add delivery method' }).click();
    const row = page.getByRole('row', { name: 'Bicycle courier' });
    await row.getByText('€4.50').waitFor();
    await page.getByRole('button', { name: 'Edit “Bicycle courier”' }).click();
    await dialog.getByLabel('Price').fill('5');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('€5.00').waitFor();
    await checkPageAccessibilityAndLayout(page, 'settings delivery methods');
    const remove = page.getByRole('button', { name: 'Delete “Bicycle courier”' });
    expect(await remove.getAttribute('data-variant')).toBe('danger');
    await remove.click();
    expect(await page.getByRole('alert').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expect((await shop.callApi('GET', '/api/v1/delivery-methods/bicycle')).status).toBe(404);
    expect(browser.pageErrors).toEqual([]);
  });

  test('add, change, disable and delete a sign-in service, without showing its secret again', async () => {
    const administrator = await signUpWithRole(shop.db, shop.origin, 'admin');
    const page = await browser.openAs(administrator, '/settings/identity-providers');
    const dialog = page.getByRole('dialog');
    const row = page.getByRole('row', { name: 'Shop directory' });
    const provider = async () => (await providers.callApi('GET', '/api/v1/identity-providers')).body.data[0];
    await page.getByText('No sign-in services yet').waitFor();
    await page.getByRole('button', { name: 'Add sign-in service' }).click();
    await dialog.getByLabel('Service').selectOption('Another service (OpenID Connect)');
    await dialog.getByLabel('Identifier in the redirect URI').fill('directory');
    await dialog.getByLabel('Issuer').fill('https://login.example.com/');
    await dialog.getByLabel('Name').fill('Shop directory');
    await dialog.getByLabel('Client ID').fill('shop');
    await dialog.getByLabel('Client secret').fill('secret-of-the-directory');
    await dialog.getByLabel('Create an account on first sign-in').check();
    await checkPageAccessibilityAndLayout(page, 'settings add sign-in service');
    await page.setViewportSize({ width: 390, height: 500 });
    await dialog.getByLabel('Issuer').focus();
    const submit = await dialog.getByRole('button', { name: 'Add sign-in service' }).boundingBox();
    expect(submit && submit.y + submit.height).toBeLessThan(500);
    await page.setViewportSize({ width: 1280, height: 860 });
    await dialog.getByRole('button', { name: 'Add sign-in service' }).click();
    expect(await dialog.getByRole('textbox', { name: 'Redirect URI', exact: true }).inputValue()).toBe(
      `${shop.origin}/sign-in/providers/directory/callback`,
    );
    await dialog.getByRole('button', { name: 'Done' }).click();
    await row.getByText('Creates accounts').waitFor();
    await checkPageAccessibilityAndLayout(page, 'settings sign-in services');

    await page.getByRole('button', { name: 'Edit “Shop directory”' }).click();
    expect(await dialog.getByLabel('Client secret').inputValue()).toBe('');
    await dialog.getByLabel('Who can sign in').selectOption('Staff and administrators');
    await dialog.getByLabel('Required for staff').check();
    await dialog.getByLabel('Emergency administrator').selectOption(String(administrator.id));
    await checkPageAccessibilityAndLayout(page, 'settings edit sign-in service');
    const file = { name: 'logo.png', mimeType: 'image/png', buffer: createSquarePng(64) };
    await dialog.locator('input[type=file]').setInputFiles({ ...file, buffer: createSquarePng(15) });
    const sizeProblem = 'The width and the height of the image must be between 16 and 2048 pixels.';
    await dialog.getByRole('listitem').filter({ hasText: sizeProblem }).waitFor();
    await dialog.locator('input[type=file]').setInputFiles(file);
    await dialog.getByRole('img', { name: 'Logo of Shop directory' }).waitFor();
    expect((await provider()).logo).toMatchObject({ width: 64 });
    await dialog.getByRole('button', { name: 'Delete the logo' }).click();
    await dialog.getByText('No logo').waitFor();
    const { id } = await provider();
    expect((await providers.callApi('PATCH', `/api/v1/identity-providers/${id}`, { body: { audience: 'customers' } })).status).toBe(200);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('cell', { name: 'Customers' }).waitFor();
    await dialog.getByRole('button', { name: 'Save my changes' }).click();
    await row.getByText('Required for staff').waitFor();
    const changed = { audience: 'staff', creates_accounts: false, required_for_staff: true, break_glass_user_id: administrator.id };
    expect(await provider()).toMatchObject(changed);

    await page.getByRole('button', { name: 'Disable “Shop directory”' }).click();
    await row.getByText('Disabled', { exact: true }).waitFor();
    expect((await provider()).status).toBe('disabled');
    await page.getByRole('button', { name: 'Delete “Shop directory”' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No sign-in services yet').waitFor();
    expect(browser.pageErrors).toEqual([]);
  });

  test('change roles after the administrator has given the console the required permission', async () => {
    const customer = await shop.createAccount('customer', ['users.read']);
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'admin'), '/settings/staff');
    await page.getByRole('button', { name: 'Sign in to change roles' }).click();
    await consentTo(page, scopeNames);
    await page.getByRole('button', { name: 'Add staff' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail address').fill('unknown@example.com');
    await dialog.getByRole('button', { name: 'Add staff' }).click();
    await dialog.getByText('No account has this e-mail address.').waitFor();
    await dialog.getByLabel('E-mail address').fill(customer.email);
    await dialog.getByRole('button', { name: 'Add staff' }).click();
    await page.getByRole('button', { name: 'Change role for Anna Test' }).click();
    await dialog.getByLabel('Anna Test’s role').selectOption('Administrator');
    await dialog.getByRole('button', { name: 'Change role' }).click();
    await page.getByRole('row', { name: 'Anna Test' }).getByText('Administrator').waitFor();
    await page.setViewportSize({ width: 390, height: 860 });
    expect(await page.getByRole('row', { name: 'Anna Test' }).innerText()).toContain(customer.email);
    const emailLines = await readVisualLines(page.getByText(customer.email).first());
    expect(emailLines.join('')).toBe(customer.email);
    expect(emailLines.slice(1).filter((line) => !line.startsWith('@') && !customer.email.includes(`.${line}`))).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 860 });
    expect(await page.getByRole('row', { name: '(you)' }).getByRole('button').count()).toBe(0);
    await checkPageAccessibilityAndLayout(page, 'settings staff');
    expect((await shop.callApi('GET', `/api/v1/users/${customer.id}`, { token: shop.token })).body.role).toBe('admin');
    expect(browser.pageErrors).toEqual([]);
  });

  test('contain only what a single scope permits', async () => {
    await withdrawPreapproval(shop);
    const page = await browser.openAndConsent(await signUpWithRole(shop.db, shop.origin, 'staff'), ['settings.write'], '/settings');
    await page.getByRole('button', { name: 'Add delivery method' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Sections' }).count()).toBe(0);
    await page.goto(`${shop.origin}/console/settings/branding`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect((await staff.callApi('PATCH', '/api/v1/branding', { body: { name: 'No' } })).status).toBe(403);
  });
});

/** Returns the text of each line in which the browser shows an element. */
const readVisualLines = (locator: Locator): Promise<string[]> =>
  locator.evaluate((element) => {
    const lines = new Map<number, string>();
    for (const node of element.childNodes) {
      for (let index = 0; index < (node.length ?? 0); index++) {
        const range = element.ownerDocument.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + 1);
        const { top } = range.getBoundingClientRect();
        lines.set(top, (lines.get(top) ?? '') + String(range));
      }
    }
    return [...lines.values()];
  });
