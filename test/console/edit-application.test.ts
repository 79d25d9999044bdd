import { expect, test } from 'vitest';
import { hasChromium } from '../support/browser/chromium.ts';
import { signUpWithRole } from '../support/oauth/oauth-flow.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { checkPageAccessibilityAndLayout, useConsoleBrowser } from './console-browser.ts';

const shop = withShop({ sampleData: false });
const browser = useConsoleBrowser(shop);
const admin = shop.admin(['applications.manage']);

test.skipIf(!hasChromium)("an application's links are changed, and an invalid link is explained", { timeout: 120_000 }, async () => {
  const website = { name: 'Recipes', type: 'confidential', redirect_uris: ['https://recipes.example/cb'], scopes: [] };
  const { body } = await admin.callApi('POST', '/api/v1/applications', { body: { ...website, grant_types: ['authorization_code'] } });
  const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'admin'), `/applications/${body.id}`);
  await page.getByRole('button', { name: 'Edit: Registration' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Privacy policy').fill('https://localhost');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Must be an https URL, such as https://app.example/privacy').waitFor();
  await checkPageAccessibilityAndLayout(page, 'application registration with an error');
  await dialog.getByLabel('Privacy policy').fill('https://recipes.example/privacy');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('main').getByText('https://recipes.example/privacy').waitFor();
  const links = { policy_uri: 'https://recipes.example/privacy', tos_uri: null };
  expect((await admin.callApi('GET', `/api/v1/applications/${body.id}`)).body).toMatchObject(links);
  expect(browser.pageErrors).toEqual([]);
});
