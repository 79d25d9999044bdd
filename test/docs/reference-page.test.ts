import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { databaseKind } from '../support/services/database.ts';
import { signUp, createWebApplication, type TestUser } from '../support/oauth/oauth-flow.ts';
import { useServer } from '../support/server/use-server.ts';

// the page does not depend on the database, so testing with one database is sufficient
describe.skipIf(!hasChromium || databaseKind === 'pglite')(
  'the API reference in a browser without access to other servers',
  { timeout: 60_000 },
  () => {
    const server = useServer();
    let browser: Browser;
    beforeAll(async () => void (browser = await launchChromium()));
    afterAll(() => browser.close());

    /** Opens the page and records all errors: blocked requests, failed requests and script errors. */
    async function withPage(options: BrowserContextOptions, use: (page: Page, errors: string[]) => Promise<void>): Promise<void> {
      const context = await browser.newContext(options);
      const errors: string[] = [];
      try {
        await blockOtherOrigins(context, errors);
        const page = await context.newPage();
        page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
        page.on('pageerror', ({ message }) => errors.push(message));
        await page.goto(`${server.origin}/docs`);
        await page.locator('.opblock').first().waitFor();
        await use(page, errors);
      } finally {
        await context.close();
      }
    }

    const blockOtherOrigins = (context: BrowserContext, errors: string[]): Promise<unknown> =>
      context.route(
        (url) => url.origin !== server.origin,
        (route) => {
          errors.push(`request to ${route.request().url()}`);
          return route.abort();
        },
      );

    const operation = (page: Page, tag: string, operationId: string): Locator =>
      page.locator(`[id="operations-${tag}-${operationId.replace('.', String.raw`\\.`)}"]`);

    async function open(page: Page, tag: string, operationId: string): Promise<Locator> {
      const block = operation(page, tag, operationId);
      await block.locator('button.opblock-summary-control').click();
      await block.getByRole('button', { name: 'Try it out' }).waitFor();
      return block;
    }

    async function signIn(page: Page, { email, password }: TestUser): Promise<void> {
      await page.getByRole('button', { name: 'Authorize' }).click();
      const dialog = page.getByRole('dialog', { name: 'Sign in' });
      const popup = page.waitForEvent('popup');
      await dialog.getByRole('button', { name: 'Authorize' }).click();
      const window = await popup;
      await window.getByLabel('E-mail address').fill(email);
      await window.getByLabel('Password', { exact: true }).fill(password);
      await window.keyboard.press('Enter');
      await window.getByRole('button', { name: 'Allow' }).click();
      await dialog.getByRole('button', { name: 'Logout' }).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).last().click();
    }

    async function execute(page: Page, tag: string, operationId: string): Promise<string> {
      const block = await open(page, tag, operationId);
      await block.getByRole('button', { name: 'Try it out' }).click();
      await block.getByRole('button', { name: 'Execute' }).click();
      return (await block.locator('.live-responses-table .response .response-col_status').first().textContent()) ?? '';
    }

    test('renders every operation, and sends no request to other servers', async () => {
      await withPage({}, async (page, errors) => {
        const document = z
          .object({ paths: z.record(z.record(z.unknown())), webhooks: z.record(z.record(z.unknown())) })
          .parse(await (await fetch(`${server.origin}/openapi.json`)).json());
        const operations = Object.values({ ...document.paths, ...document.webhooks }).flatMap((path) => Object.keys(path));
        expect(await page.locator('.opblock').count()).toBe(operations.length);
        expect(errors).toEqual([]);
      });
    });

    test('signs a user in with code and PKCE, sends requests with the token, and does not store it', async () => {
      const anna = await signUp(server.origin);
      await withPage({}, async (page, errors) => {
        await signIn(page, anna);
        expect(await execute(page, 'Orders', 'orders.list')).toContain('200');
        expect(errors).toEqual([]);
        const storage = await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]');
        expect(storage).toEqual([0, 0, '']);
      });
    });

    test('sends requests without a token before the sign-in', async () => {
      await withPage({}, async (page) => {
        expect(await execute(page, 'Orders', 'orders.list')).toContain('401');
      });
    });

    test.each([
      ['light', 1280],
      ['dark', 360],
    ] as const)(
      'has no axe violations in %s mode at %i pixels in any state, and no horizontal scrolling',
      { timeout: 90_000 },
      async (colorScheme, width) => {
        const anna = await signUp(server.origin);
        await withPage({ colorScheme, viewport: { width, height: 900 } }, async (page) => {
          const found: Record<string, unknown> = {};
          const checkState = async (state: string): Promise<void> => void (found[state] = await axeViolations(page));
          await checkState('start');
          const order = await open(page, 'Orders', 'orders.create');
          await checkState('an operation');
          await order.getByRole('tab', { name: 'Schema' }).first().click();
          await order.getByRole('button', { name: 'Try it out' }).click();
          await checkState('schema and editable request');
          await page.getByRole('button', { name: 'Authorize' }).click();
          await checkState('the dialog');
          await page.locator('.modal-ux-content').evaluate((content) => content.scrollTo(0, content.scrollHeight));
          await checkState('the end of the dialog');
          await page.keyboard.press('Escape');
          await signIn(page, anna);
          await execute(page, 'Orders', 'orders.list');
          await checkState('called');
          expect(found).toEqual(Object.fromEntries(Object.keys(found).map((state) => [state, []])));
        });
      },
    );

    async function axeViolations(page: Page): Promise<string[]> {
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      await page.evaluate(axe.source);
      const found = z.array(z.string()).parse(
        await page.evaluate(async () => {
          const { violations } = await Reflect.get(globalThis, 'axe').run();
          return violations.map(
            (one: { id: string; nodes: { html: string }[] }) => `${one.id}: ${one.nodes.map(({ html }) => html).join()}`,
          );
        }),
      );
      const overflow = z.number().parse(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'));
      return overflow === 0 ? found : [...found, `${overflow} pixels too wide`];
    }
  },
);

describe('the API reference', () => {
  const server = useServer();
  const client = 'mandate-docs';

  test('allows requests to its server only', async () => {
    const { headers } = await fetch(`${server.origin}/docs`);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
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
    expect(paths.length).toBeGreaterThanOrEqual(5);
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
