import type { Page } from 'playwright-core';
import { addAuthenticatorApp } from '../oauth/credentials.ts';
import { longUserName, signInAs } from '../oauth/page-scenarios.ts';
import { signUp, type TestUser } from '../oauth/oauth-flow.ts';
import type { RunningServer } from '../server/use-server.ts';
import { connectRequestingApplication } from './approval-requests.ts';
import { buildOrderInput, loadSharedTestShop } from './test-shop.ts';

/** Returns functions that open the pages on which customers approve orders. */
export function createApprovalScenarios(server: RunningServer): Record<string, (page: Page) => Promise<void>> {
  /** Requests an approval with long text. Returns the customer and the path of the approval page. */
  async function requestApproval(): Promise<{ anna: TestUser; path: string }> {
    const shop = await loadSharedTestShop(server);
    const anna = await signUp(server.origin, { name: longUserName });
    const { origin, db, callApi } = server;
    const app = await connectRequestingApplication(
      { origin, db, callApi, createProduct: (overrides) => shop.createProduct(overrides) },
      anna,
    );
    const name = `Hanging heart with a name that has ${'many '.repeat(20)}words`;
    const quote = await app.post('/quotes', buildOrderInput([await shop.createProduct({ name, price: 600_000 }), 2]));
    const message = `The printer needs paper.\n${'A-very-long-word-without-a-space'.repeat(5)}`;
    const { body } = await app.post('/approvals', { quote_id: quote.body.id, message });
    return { anna, path: `/account/approvals/${body.id}` };
  }
  async function openRequest(page: Page): Promise<void> {
    const { anna, path } = await requestApproval();
    await signInAs(server, page, anna);
    await page.goto(server.origin + path);
  }
  return {
    'no approvals': async (page) => {
      await signInAs(server, page, await signUp(server.origin));
      await page.goto(`${server.origin}/account/approvals`);
    },
    'approvals, and an invalid amount for the second factor': async (page) => {
      const { anna } = await requestApproval();
      await addAuthenticatorApp(anna.browser);
      await signInAs(server, page, anna);
      await page.goto(`${server.origin}/account/approvals`);
      await page.getByLabel(/Require a second factor above this amount/).fill('much');
      await page.getByRole('button', { name: 'Save amount' }).click();
      await page.getByRole('alert').waitFor();
    },
    'request for an approval': openRequest,
    'approved request': async (page) => {
      await openRequest(page);
      await page.getByRole('button', { name: 'Approve the order' }).click();
      await page.getByText('You approved this order.').waitFor();
    },
    'declined request': async (page) => {
      await openRequest(page);
      await page.getByRole('button', { name: 'Decline' }).click();
      await page.getByText('You declined this order.').waitFor();
    },
  };
}
