import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type Order } from '@mandate/client-sdk';
import { createCredentialStore, type CredentialStore } from '../../cli/sign-in/credential-store.ts';
import { createConfigDirectory, killProcesses, spawnCommand, type CommandOutcome } from '../cli/run-command-line.ts';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { readMailLink } from '../support/services/mailbox.ts';
import { startMandateServer, type MandateServer } from '../support/server/start-mandate.ts';
import { createTestShop } from '../support/server/test-shop.ts';

if (!hasChromium) process.stderr.write('Chromium is not installed, so the test from sign-up to order in a browser is skipped.\n');

type SignedInUser = AsyncDisposable & {
  readonly page: Page;
  readonly email: string;
  readonly store: CredentialStore;
  mandate(...argv: string[]): Promise<CommandOutcome>;
};

let mandate: MandateServer;
let browser: Browser;
let productId = 0;

beforeAll(async () => {
  if (!hasChromium) return;
  mandate = await startMandateServer();
  productId = (await (await createTestShop(mandate)).createProduct({ price: 255, name: 'White hanging heart' })).id;
  browser = await launchChromium();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await mandate?.close();
});

afterEach(killProcesses);

/** Signs up in a browser, then signs in on the command line. */
async function signUpInBrowserAndTerminal(name: string, ...options: string[]): Promise<SignedInUser> {
  const directory = await createConfigDirectory();
  const context = await browser.newContext();
  const page = await context.newPage();
  const email = `${name.toLowerCase()}@example.com`;
  const env = { PATH: process.execPath, MANDATE_API_URL: mandate.origin, MANDATE_CONFIG_DIR: directory.path };
  await page.goto(`${mandate.origin}/sign-up`);
  await page.getByLabel(/e-?mail/i).fill(email);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  await page.goto(await readMailLink(mandate.origin, email));
  await page.getByLabel('Name').fill(name);
  await page
    .getByLabel(/password/i)
    .first()
    .fill(`correct horse battery staple`);
  await page.locator('form button').last().click();
  await page.waitForURL('**/account');
  const login = spawnCommand(['login', '--no-browser', ...options], env);
  await page.goto(await waitForAuthorizationUrl(login));
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText('You can close this window').waitFor();
  expect(await login.exited).toMatchObject({ exitCode: 0, stdout: '', stderr: expect.stringContaining(`Signed in as ${email}`) });
  return {
    page,
    email,
    mandate: (...argv) => spawnCommand(argv, env).exited,
    store: createCredentialStore(directory.path),
    [Symbol.asyncDispose]: async () => {
      await context.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}

async function waitForAuthorizationUrl(login: ReturnType<typeof spawnCommand>): Promise<string> {
  for (;;) {
    const address = /^http\S+\/oauth\/authorize\S+$/m.exec(login.stderrSoFar())?.[0];
    if (address !== undefined) return address;
    if (login.child.exitCode !== null) throw new Error(login.stderrSoFar());
    await sleep(20);
  }
}

/** Serves a page on another origin that contains only the bundled client. */
async function startFrontEnd(): Promise<AsyncDisposable & { readonly url: string }> {
  const bundle = await build({
    stdin: {
      contents: "import { createClient } from '@mandate/client-sdk'; globalThis.createClient = createClient;",
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
  });
  const script = bundle.outputFiles[0]?.text ?? '';
  const server = createServer((req, res) =>
    req.url === '/client.js'
      ? res.setHeader('content-type', 'text/javascript').end(script)
      : res.setHeader('content-type', 'text/html').end('<!doctype html><title>Front end</title><script src="/client.js"></script>'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe.skipIf(!hasChromium)('from sign-up to order', { timeout: 120_000 }, () => {
  test('a user signs up, signs in and orders on the command line, and other users cannot see the order', async () => {
    await using ann = await signUpInBrowserAndTerminal('Ann');
    const created = await ann.mandate(
      'orders',
      'create',
      '--item',
      `product_id=${productId},quantity=2`,
      '--delivery.method',
      'pickup',
      '--delivery.recipient-name',
      'Ann',
      '--json',
    );
    expect(created).toMatchObject({ exitCode: 0, stderr: '' });
    const order: Order = JSON.parse(created.stdout);
    expect(order).toMatchObject({ status: 'pending', total: 510, currency: 'EUR', items: [{ product_id: productId, quantity: 2 }] });

    const listed = await ann.mandate('orders', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject({ data: [{ id: order.id, total: 510 }], has_more: false });
    const read = await ann.mandate('orders', 'get', String(order.id), '--json');
    expect(JSON.parse(read.stdout)).toEqual(order);
    expect(JSON.parse((await ann.mandate('whoami', '--json')).stdout)).toMatchObject({ email: ann.email, name: 'Ann' });

    await using ben = await signUpInBrowserAndTerminal('Ben');
    const refused = await ben.mandate('orders', 'get', String(order.id));
    expect(refused).toMatchObject({ exitCode: 6, stdout: '', stderr: expect.stringContaining('HTTP 404') });
    expect(JSON.parse((await ben.mandate('orders', 'list', '--json')).stdout).data).toEqual([]);
  });

  test('the client creates an order in Node and in a page of another origin', async () => {
    // Bearer tokens work in every client
    await using cleo = await signUpInBrowserAndTerminal('Cleo', '--no-dpop');
    await using site = await startFrontEnd();
    const auth = (await cleo.store.read('default'))?.accessToken;
    const input = { items: [{ product_id: productId, quantity: 2 }], delivery: { method: 'pickup', recipient_name: 'Cleo' } };
    const client = createClient({ baseUrl: mandate.origin, auth });
    const fromNode = await client.orders.create(input);

    await cleo.page.goto(site.url);
    const fromPage = await cleo.page.evaluate(
      async ({ baseUrl, auth: token, body }) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the bundle in the page has set it
        const { createClient: create } = globalThis as unknown as { createClient: typeof createClient };
        const api = create({ baseUrl, auth: token });
        const order = await api.orders.create(body);
        const missing = await api.orders.get(order.id + 1000).safe();
        return { order, read: await api.orders.get(order.id), missing: missing.ok ? 'found' : missing.error.code };
      },
      { baseUrl: mandate.origin, auth, body: input },
    );
    expect(fromPage.missing).toBe('not_found');
    expect(fromPage.read).toEqual(fromPage.order);
    const { id, created_at, updated_at, expires_at } = fromNode;
    expect({ ...fromPage.order, id, created_at, updated_at, expires_at }).toEqual(fromNode);
    expect(fromPage.order.id).not.toBe(id);
    expect((await client.orders.list().toArray({ max: 10 })).map((order) => order.id)).toEqual([fromPage.order.id, id]);
  });

  test('the access token is rejected after signing out', async () => {
    await using dan = await signUpInBrowserAndTerminal('Dan', '--no-dpop');
    const auth = (await dan.store.read('default'))?.accessToken;
    expect((await dan.mandate('orders', 'list')).exitCode).toBe(0);
    expect(await dan.mandate('logout')).toMatchObject({ exitCode: 0, stderr: 'Signed out (profile default).\n' });
    expect((await dan.mandate('orders', 'list')).exitCode).toBe(4);
    const result = await createClient({ baseUrl: mandate.origin, auth }).orders.list().safe();
    expect(result).toMatchObject({ ok: false, error: { status: 401 } });
  });

  test('eight concurrent commands refresh an expired token once and succeed', async () => {
    await using fay = await signUpInBrowserAndTerminal('Fay');
    const before = await fay.store.read('default');
    if (!before) throw new Error('signed in');
    await fay.store.exclusively(() => fay.store.write('default', { ...before, expiresAt: 0 }));
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => fay.mandate('orders', 'list', '--json')));
    expect(outcomes.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(outcomes.map(() => ({ exitCode: 0, stderr: '' })));
    const after = await fay.store.read('default');
    expect(after).toMatchObject({
      accessToken: expect.not.stringMatching(before.accessToken),
      scopes: before.scopes,
      user: { email: fay.email },
    });
    expect((await fay.mandate('whoami')).exitCode).toBe(0);
  });

  test('the command line reports that the user denied the sign-in in the browser', async () => {
    await using eve = await signUpInBrowserAndTerminal('Eve');
    const login = spawnCommand(['login', '--no-browser', '--force'], {
      MANDATE_API_URL: mandate.origin,
      MANDATE_CONFIG_DIR: '/nonexistent/mandate',
    });
    await eve.page.goto(await waitForAuthorizationUrl(login));
    await eve.page.getByRole('button', { name: 'Cancel' }).click();
    await eve.page.getByText('You are not signed in').waitFor();
    expect(await login.exited).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('denied in the browser') });
  });
});
