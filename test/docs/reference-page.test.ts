import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { lockCheckAndStoreBranding } from '../../server/branding/read-and-write-branding.ts';
import { problemPageTexts } from '../../server/problems/problem-page-texts.ts';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { findAxeViolations, measureHorizontalOverflow, type ColorScheme } from '../support/browser/page-accessibility.ts';
import { databaseKind } from '../support/services/database.ts';
import { signUp, createWebApplication, type TestUser } from '../support/oauth/oauth-flow.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { useServer } from '../support/server/use-server.ts';

// the page does not depend on the database, so testing with one database is sufficient
describe.skipIf(!hasChromium || databaseKind === 'pglite')(
  'the API reference, in a browser without access to other servers,',
  { timeout: 60_000 },
  () => {
    const server = withShop();
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
      await server.db.em.fork().transactional((em) => lockCheckAndStoreBranding(em, { accent_color: '#ffd400' }, () => undefined));
      // the product and the delivery method in the example of `orders.create`
      const body = { name: 'Collection', price: 0, currency: (await server.createProduct()).currency, requires_address: false };
      await server.callApi('PUT', '/api/v1/delivery-methods/collection', { token: server.token, body });
    });
    afterAll(() => browser.close());
    /** Creates an empty page and records all of its errors: blocked requests, failed requests and script errors. */
    async function withPage(options: BrowserContextOptions, use: (page: Page, errors: string[]) => Promise<void>): Promise<void> {
      const context = await browser.newContext(options);
      const errors: string[] = [];
      try {
        await blockOtherOrigins(context, errors);
        const page = await context.newPage();
        page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
        page.on('pageerror', ({ message }) => errors.push(message));
        await use(page, errors);
      } finally {
        await context.close();
      }
    }

    async function openStart(page: Page): Promise<void> {
      await page.goto(`${server.origin}/docs`);
      await operationHeading(page, 'List API versions').waitFor();
    }

    const blockOtherOrigins = (context: BrowserContext, errors: string[]): Promise<unknown> =>
      context.route(
        (url) => url.origin !== server.origin,
        (route) => {
          errors.push(`request to ${route.request().url()}`);
          return route.abort();
        },
      );

    const operationHeading = (page: Page, summary: string): Locator =>
      page.getByRole('main', { name: 'API documentation for Mandate' }).getByRole('heading', { name: summary, exact: true });

    /** Opens an operation through the link that `mandate docs` prints. */
    async function open(page: Page, tag: string, operationId: string, summary: string): Promise<Locator> {
      await page.goto('about:blank');
      await page.goto(`${server.origin}/docs#/${tag}/${operationId}`);
      await operationHeading(page, summary).waitFor();
      expect(page.url()).toBe(`${server.origin}/docs#tag/${tag}/${operationId}`);
      return page.locator(`section[id$="tag/${tag}/${operationId}"]`);
    }

    const readText = async (element: Locator): Promise<string> => (await element.innerText()).replaceAll(/\s+/g, ' ');

    /** Opens the request form of an operation. */
    async function openRequest(page: Page, operation: Locator): Promise<Locator> {
      await operation.getByRole('button', { name: 'Test Request' }).click();
      const dialog = page.getByRole('dialog', { name: 'API Client' });
      await dialog.getByRole('button', { name: 'Send' }).first().waitFor();
      return dialog;
    }

    async function signIn(page: Page, dialog: Locator, { email, password }: TestUser): Promise<void> {
      const popup = page.waitForEvent('popup');
      await dialog.getByRole('button', { name: 'Authorize' }).click();
      const window = await popup;
      await window.getByLabel('E-mail address').fill(email);
      await window.getByLabel('Password', { exact: true }).fill(password);
      await window.keyboard.press('Enter');
      await window.getByRole('button', { name: 'Allow' }).click();
      await dialog.getByText('Access Token', { exact: true }).waitFor();
    }

    /** Sends the request, and returns the status line and the body of the response. */
    async function send(page: Page, dialog: Locator): Promise<{ status: number; body: string }> {
      const response = page.waitForResponse((one) => one.url().startsWith(`${server.origin}/api/`));
      await dialog.getByRole('button', { name: 'Send' }).first().click();
      const status = (await response).status();
      await dialog
        .getByText(new RegExp(`^\\s*${status}`))
        .first()
        .waitFor();
      return { status, body: await (await response).text() };
    }

    test('lists every operation and webhook, finds them by search, and sends no request to other servers', async () => {
      await withPage({}, async (page, errors) => {
        await openStart(page);
        const schema = z.record(z.record(z.object({ summary: z.string(), 'x-internal': z.boolean().optional() })));
        const document = z.object({ paths: schema, webhooks: schema }).parse(await (await fetch(`${server.origin}/openapi.json`)).json());
        const operations = Object.values({ ...document.paths, ...document.webhooks }).flatMap((path) => Object.values(path));
        const navigation = page.getByRole('complementary', { name: 'Sidebar for Mandate' });
        for (const group of (await navigation.getByRole('button', { expanded: false }).all()).toReversed()) await group.click();
        const text = await navigation.innerText();
        expect(operations.filter((one) => one['x-internal'] !== true && !text.includes(one.summary))).toEqual([]);
        await page.keyboard.press('Control+k');
        await page.keyboard.type('Cancel an order');
        await page.getByRole('option', { name: 'Cancel an order' }).waitFor();
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        await operationHeading(page, 'Cancel an order').waitFor();
        expect(errors).toEqual([]);
      });
    });

    test('shows the first operation before any script has run', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false });
      try {
        const page = await context.newPage();
        await page.goto(`${server.origin}/docs`);
        expect(await page.getByRole('heading').allInnerTexts()).toEqual(['Mandate', 'List API versions']);
        expect(await page.getByRole('main').innerText()).toContain(`curl ${server.origin}/api`);
      } finally {
        await context.close();
      }
    });

    test('shows the first operation after less than a second of CPU time', async () => {
      const context = await browser.newContext();
      try {
        const page = await context.newPage();
        const session = await context.newCDPSession(page);
        await session.send('Performance.enable', { timeDomain: 'threadTicks' });
        await page.goto(`${server.origin}/docs`, { waitUntil: 'commit' });
        await page.getByRole('heading', { name: 'List API versions' }).first().waitFor();
        const { metrics } = await session.send('Performance.getMetrics');
        expect(metrics.find(({ name }) => name === 'TaskDuration')?.value).toBeLessThan(1);
      } finally {
        await context.close();
      }
    });

    test('shows code samples, schemas, and how to fix each error', async () => {
      await withPage({}, async (page) => {
        const order = await open(page, 'Orders', 'orders.create', 'Place an order');
        for (const [language, line] of [
          ['TypeScript', 'mandate.orders.create('],
          ['Command line', 'mandate orders create'],
          ['Python', 'requests.post('],
          ['curl', 'curl -X POST'],
        ] as const) {
          await order.getByRole('button', { name: /curl|TypeScript|Command line|Python/ }).click();
          await page.getByRole('option', { name: language, exact: true }).click();
          await expect.poll(() => readText(order)).toContain(line);
        }
        const error = order.getByRole('button', { name: /^409/ }).first();
        await error.click();
        await expect.poll(() => error.locator('xpath=..').innerText()).toContain(problemPageTexts.out_of_stock.fix.replaceAll('`', ''));
        const description = 'Number of order lines.';
        expect(await readText(order)).not.toContain(description);
        await order.getByRole('button', { name: /^201/ }).first().click();
        await expect.poll(() => readText(order)).toContain(description);
      });
    });

    test('signs a user in with code and PKCE, places an order, and does not store the token', async () => {
      const anna = await signUp(server.origin);
      await withPage({}, async (page, errors) => {
        const dialog = await openRequest(page, await open(page, 'Orders', 'orders.create', 'Place an order'));
        await signIn(page, dialog, anna);
        const placed = await send(page, dialog);
        expect([placed.status, JSON.parse(placed.body)]).toEqual([201, expect.objectContaining({ client_id: 'mandate-docs' })]);
        expect(errors).toEqual([]);
        const storage = z.string().parse(await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])'));
        expect(storage).not.toMatch(/token|eyJ/);
      });
    });

    test('sends requests without a token before the sign-in', async () => {
      await withPage({}, async (page) => {
        const dialog = await openRequest(page, await open(page, 'Orders', 'orders.list', 'List orders'));
        expect((await send(page, dialog)).status).toBe(401);
      });
    });

    test.each([1280, 390])(
      'has no axe violations at %i pixels in any state, in light and dark mode, and no horizontal scrolling',
      { timeout: 120_000 },
      async (width) => {
        const anna = await signUp(server.origin);
        await withPage({ colorScheme: 'light', viewport: { width, height: 900 } }, async (page) => {
          const found: Record<string, unknown> = {};
          const checkState = async (state: string): Promise<void> => {
            for (const colorScheme of ['light', 'dark'] as const) {
              await page.emulateMedia({ colorScheme });
              await page.locator(`body.${colorScheme}-mode`).waitFor();
              found[`${state}, ${colorScheme}`] = await findViolations(page, colorScheme);
            }
          };
          await openStart(page);
          await checkState('start');
          const order = await open(page, 'Orders', 'orders.create', 'Place an order');
          await checkState('an operation');
          await order.getByRole('button', { name: /^409/ }).first().click();
          await checkState('an error');
          const dialog = await openRequest(page, order);
          await checkState('the request form');
          await signIn(page, dialog, anna);
          await send(page, dialog);
          await checkState('the response');
          expect(found).toEqual(Object.fromEntries(Object.keys(found).map((state) => [state, []])));
        });
      },
    );

    async function findViolations(page: Page, colorScheme: ColorScheme): Promise<string[]> {
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      const found = await findAxeViolations(page, colorScheme);
      const overflow = await measureHorizontalOverflow(page);
      return overflow === 0 ? found : [...found, `${String(overflow)} pixels too wide`];
    }
  },
);

describe('the API reference', () => {
  const server = useServer();
  const client = 'mandate-docs';

  test('allows requests to its server only', async () => {
    const policies = await Promise.all(
      Array.from({ length: 2 }, async () => (await fetch(`${server.origin}/docs`)).headers.get('content-security-policy') ?? ''),
    );
    for (const policy of policies)
      expect(policy.replace(/'nonce-[\w+/=]{24}'/, "'nonce'")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce'; style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
    expect(new Set(policies).size).toBe(2);
  });

  test.each(['http://localhost:1/docs/oauth2-redirect.html', '/docs/oauth2-redirect.html?x=1', '/docs'])(
    'rejects the redirect URI %s, because the exception for native applications does not apply',
    async (target) => {
      const redirectUri = new URL(target, server.origin).href;
      const query = new URLSearchParams({
        client_id: client,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'orders.read',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      });
      const response = await fetch(`${server.origin}/oauth/authorize?${query.toString()}`, { redirect: 'manual' });
      expect(response.status).toBe(400);
    },
  );

  test('only pages of a public application can read the token response, without cookies (93)', async () => {
    const cors = async (origin: string, clientId: string): Promise<(string | null)[]> => {
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        code: 'none',
        redirect_uri: 'https://x.example',
      });
      const { headers } = await fetch(`${server.origin}/oauth/token`, { method: 'POST', headers: { origin }, body });
      return [headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')];
    };
    expect(await cors(server.origin, client)).toEqual([server.origin, null]);
    expect(await cors('https://elsewhere.example', client)).toEqual([null, null]);
    expect(await cors('null', client)).toEqual([null, null]);
    const { clientId } = await createWebApplication(server.db, ['orders.read']);
    expect(await cors('https://app.example', clientId)).toEqual([null, null]);
  });

  test('its files are compressed on request and cached permanently', async () => {
    const text = await (await fetch(`${server.origin}/docs`)).text();
    const paths = Array.from(text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g), ([, path = '']) => path);
    expect(paths.length).toBe(4);
    for (const path of paths) {
      const plain = await fetch(server.origin + path, { headers: { 'accept-encoding': 'identity' } });
      const compressed = await fetch(server.origin + path, { headers: { 'accept-encoding': 'gzip' } });
      expect(compressed.headers.get('content-encoding')).toBe('gzip');
      expect(compressed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(await compressed.text()).toBe(await plain.text());
    }
  });

  test('another host name of the server redirects to the issuer, where sign-in works', async () => {
    const response = await fetch(`${server.origin.replace('localhost', '127.0.0.1')}/docs`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([307, `${server.origin}/docs`]);
  });
});
