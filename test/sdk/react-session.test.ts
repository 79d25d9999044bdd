import { mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApplication } from '../../server/applications/validate-and-create-application.ts';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { signUp, type TestUser } from '../support/oauth/oauth-flow.ts';
import { startWebApp, type WebAppServer } from '../support/oauth/web-app.ts';
import { useServer } from '../support/server/use-server.ts';

const clientId = 'react-application';

/** A page that shows the session. */
const source = (issuer: string) => (origin: string) =>
  `
  import { createElement, StrictMode, useEffect, useState } from 'react';
  import { createRoot } from 'react-dom/client';
  import { createClient } from '@mandate/client-sdk';
  import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
  import { MandateProvider, useSession } from '@mandate/client-sdk/react';
  const signIn = browserSignIn({
    issuer: '${issuer}', clientId: '${clientId}', redirectUri: '${origin}/', scopes: ['openid', 'offline_access', 'users.read'],
  });
  const client = createClient({ baseUrl: '${issuer}', auth: signIn.auth });
  function App() {
    const session = useSession();
    const [name, setName] = useState('');
    useEffect(() => {
      if (session.status === 'signed-in') session.client.users.me().then((user) => setName(user.name));
      else setName('');
    }, [session.status]);
    return createElement('main', {},
      createElement('p', { id: 'status' }, session.status),
      createElement('p', { id: 'name' }, name),
      createElement('p', { id: 'error' }, session.error ? session.error.error : ''),
      createElement('button', { onClick: () => session.signIn() }, 'Sign in'),
      createElement('button', { onClick: () => session.signOut() }, 'Sign out'));
  }
  createRoot(document.querySelector('div')).render(
    createElement(StrictMode, {}, createElement(MandateProvider, { client, signIn }, createElement(App))));
`;

describe.skipIf(!hasChromium)('useSession', () => {
  const server = useServer();
  let chromium: Browser;
  let app: WebAppServer;
  let anna: TestUser;

  beforeAll(async () => {
    [chromium, app] = await Promise.all([launchChromium(), startWebApp(source(server.origin), '<div></div>')]);
    await createApplication(server.db.em.fork(), {
      clientId,
      name: 'React application',
      type: 'public',
      grantTypes: ['authorization_code', 'refresh_token'],
      scopes: ['users.read'],
      redirectUris: [`${app.origin}/`],
    });
    anna = await signUp(server.origin, { name: 'Anna React' });
  });
  afterAll(async () => {
    await chromium?.close();
    await app?.[Symbol.asyncDispose]();
  });

  test('follows sign-in and sign-out in all tabs, returns to the page, and reports a denial', async () => {
    const context = await chromium.newContext();
    const [page, other] = [await context.newPage(), await context.newPage()];
    for (const tab of [page, other]) {
      await tab.goto(`${app.origin}/cart?step=2`);
      await tab.locator('#status', { hasText: 'signed-out' }).waitFor();
    }
    const signInAtServer = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByLabel('E-mail address').fill(anna.email);
      await page.getByLabel('Password', { exact: true }).fill(anna.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    };
    await signInAtServer();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('#error', { hasText: 'access_denied' }).waitFor();
    expect(await page.locator('#status').innerText()).toBe('signed-out');

    await page.goto(`${app.origin}/cart?step=2`);
    await page.locator('#status', { hasText: 'signed-out' }).waitFor();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.locator('#name', { hasText: 'Anna React' }).waitFor();
    expect(page.url()).toBe(`${app.origin}/cart?step=2`);
    await other.locator('#name', { hasText: 'Anna React' }).waitFor();

    await other.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of [page, other]) await tab.locator('#status', { hasText: 'signed-out' }).waitFor();
    await context.close();
  });
});

test('a server renders the loading state, and useSession needs its provider', async () => {
  const contents = `
    import { createElement } from 'react';
    import { renderToString } from 'react-dom/server';
    import { createClient } from '@mandate/client-sdk';
    import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
    import { MandateProvider, useSession } from '@mandate/client-sdk/react';
    const client = createClient({ baseUrl: 'https://shop.example' });
    const signIn = browserSignIn({ issuer: 'https://shop.example', clientId: 'x', redirectUri: 'https://app.example/', scopes: [] });
    const Status = () => useSession().status;
    export const html = renderToString(createElement(MandateProvider, { client, signIn }, createElement(Status)));
    export const withoutProvider = () => renderToString(createElement(Status));`;
  const stdin = { contents, resolveDir: import.meta.dirname };
  await using directory = await mkdtempDisposable(join(import.meta.dirname, '.react-'));
  const outfile = join(directory.path, 'page.mjs');
  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile, banner });
  const page = await import(pathToFileURL(outfile).href);
  expect(page.html).toBe('loading');
  expect(page.withoutProvider).toThrow('inside MandateProvider');
});
