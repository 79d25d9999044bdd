import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { databaseKind } from '../support/services/database.ts';
import { signUp, webApplication, type Person } from '../support/oauth/oauth-flow.ts';
import { useServer } from '../support/server/with-server.ts';

// The page is the same on every database; once is enough.
describe.skipIf(!hasChromium || databaseKind === 'pglite')(
  'the API reference in a browser that reaches nothing but the server',
  { timeout: 60_000 },
  () => {
    const server = useServer();
    let browser: Browser;
    beforeAll(async () => void (browser = await launchChromium()));
    afterAll(() => browser.close());

    /** A page whose every complaint is kept: what the policy blocked, what could not be had, what went wrong in scripts. */
    async function withPage(options: BrowserContextOptions, use: (page: Page, complaints: string[]) => Promise<void>): Promise<void> {
      const context = await browser.newContext(options);
      const complaints: string[] = [];
      try {
        await cutOff(context, complaints);
        const page = await context.newPage();
        page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
        page.on('pageerror', ({ message }) => complaints.push(message));
        await page.goto(`${server.origin}/docs`);
        await page.locator('.opblock').first().waitFor();
        await use(page, complaints);
      } finally {
        await context.close();
      }
    }

    const cutOff = (context: BrowserContext, complaints: string[]): Promise<unknown> =>
      context.route(
        (url) => url.origin !== server.origin,
        (route) => {
          complaints.push(`asked for ${route.request().url()}`);
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

    async function signIn(page: Page, { email, password }: Person): Promise<void> {
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

    test('renders every operation, and asks nobody else for anything', async () => {
      await withPage({}, async (page, complaints) => {
        const document = z
          .object({ paths: z.record(z.record(z.unknown())), webhooks: z.record(z.record(z.unknown())) })
          .parse(await (await fetch(`${server.origin}/openapi.json`)).json());
        const operations = Object.values({ ...document.paths, ...document.webhooks }).flatMap((path) => Object.keys(path));
        expect(await page.locator('.opblock').count()).toBe(operations.length);
        expect(complaints).toEqual([]);
      });
    });

    test('signs somebody in by code and PKCE, and calls in their name; the token is kept nowhere', async () => {
      const anna = await signUp(server.origin);
      await withPage({}, async (page, complaints) => {
        await signIn(page, anna);
        expect(await execute(page, 'Orders', 'orders.list')).toContain('200');
        expect(complaints).toEqual([]);
        const kept = await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]');
        expect(kept).toEqual([0, 0, '']);
      });
    });

    test('without signing in, a call is answered as anybody would be', async () => {
      await withPage({}, async (page) => {
        expect(await execute(page, 'Orders', 'orders.list')).toContain('401');
      });
    });

    test.each([
      ['light', 1280],
      ['dark', 360],
    ] as const)(
      'has nothing for axe to say in %s at %i pixels, in any state, and does not scroll sideways',
      { timeout: 90_000 },
      async (colorScheme, width) => {
        const anna = await signUp(server.origin);
        await withPage({ colorScheme, viewport: { width, height: 900 } }, async (page) => {
          const found: Record<string, unknown> = {};
          const look = async (state: string): Promise<void> => void (found[state] = await faults(page));
          await look('start');
          const order = await open(page, 'Orders', 'orders.create');
          await look('an operation');
          await order.getByRole('tab', { name: 'Schema' }).first().click();
          await order.getByRole('button', { name: 'Try it out' }).click();
          await look('its schema, ready to be tried');
          await page.getByRole('button', { name: 'Authorize' }).click();
          await look('the dialog');
          await page.locator('.modal-ux-content').evaluate((content) => content.scrollTo(0, content.scrollHeight));
          await look('the end of the dialog');
          await page.keyboard.press('Escape');
          await signIn(page, anna);
          await execute(page, 'Orders', 'orders.list');
          await look('called');
          expect(found).toEqual(Object.fromEntries(Object.keys(found).map((state) => [state, []])));
        });
      },
    );

    async function faults(page: Page): Promise<string[]> {
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
      const wide = z.number().parse(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'));
      return wide === 0 ? found : [...found, `${wide} pixels too wide`];
    }
  },
);

describe('the API reference', () => {
  const server = useServer();
  const client = 'mandate-docs';

  test('may load and call nothing but the server it came from', async () => {
    const { headers } = await fetch(`${server.origin}/docs`);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  test.each(['http://localhost:1/docs/oauth2-redirect.html', '/docs/oauth2-redirect.html?x=1', '/docs'])(
    'signs nobody in for %s, as a native application would',
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
      const answer = await fetch(`${server.origin}/oauth/authorize?${query.toString()}`, { redirect: 'manual' });
      expect(answer.status).toBe(400);
    },
  );

  test('the token endpoint can be read by pages of a public application alone, and without cookies (93)', async () => {
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
    const { clientId } = await webApplication(server.db, ['orders.read']);
    expect(await cors('https://app.example', clientId)).toEqual([null, null]);
  });

  test('its files are compressed where that is understood, and kept for ever', async () => {
    const text = await (await fetch(`${server.origin}/docs`)).text();
    const paths = Array.from(text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g), ([, path = '']) => path);
    expect(paths.length).toBeGreaterThanOrEqual(5);
    for (const path of paths) {
      const plain = await fetch(server.origin + path, { headers: { 'accept-encoding': 'identity' } });
      const packed = await fetch(server.origin + path, { headers: { 'accept-encoding': 'gzip' } });
      expect(packed.headers.get('content-encoding')).toBe('gzip');
      expect(packed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(await packed.text()).toBe(await plain.text());
    }
  });

  test('at another of its names, leads to the issuer, where signing in works', async () => {
    const answer = await fetch(`${server.origin.replace('localhost', '127.0.0.1')}/docs`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([307, `${server.origin}/docs`]);
  });
});
