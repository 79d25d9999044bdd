import { afterEach, expect, test } from 'vitest';
import { createMigratedPostgresqlUrl, databaseKind } from '../../support/services/database.ts';
import {
  createDataDirectory,
  killServerProcesses,
  obtainAdministrationToken,
  startServerProcess,
} from '../../support/server/server-process.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';

afterEach(killServerProcesses);

const pages = ['/', '/sign-in', '/nothing', '/problems', '/oauth/logout/success', '/oauth/authorize?client_id=nobody'];

test.skipIf(databaseKind === 'pglite')(
  'a change of the branding takes effect immediately in another process, on pages and in e-mails',
  { timeout: 180_000 },
  async () => {
    await using data = await createDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path, DATABASE_URL: await createMigratedPostgresqlUrl() };
    const one = await startServerProcess(env);
    const other = await startServerProcess(env);
    const browser = new HttpBrowser(other.url);
    for (const page of pages) expect((await browser.open(page)).text, page).toContain('Larkspur</header>'); // the demonstration shop

    const authorization = `Bearer ${await obtainAdministrationToken(one.url, data.path)}`;
    for (const name of ['Foxglove', 'Hollyhock']) {
      const response = await fetch(`${one.url}/api/v1/branding`, {
        method: 'PATCH',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ name, accent_color: name === 'Foxglove' ? '#7a1f5c' : '#1f4f7a' }),
      });
      expect(response.status).toBe(200);
      for (const page of pages) expect((await browser.open(page)).text, page).toContain(`${name}</header>`);
      // the first process serves this stylesheet although it has not rendered a page that refers to it
      const stylesheet = /<link rel="stylesheet" href="([^"]+)"/.exec((await browser.open('/sign-in')).text)?.[1] ?? '';
      expect((await fetch(one.url + stylesheet)).status).toBe(200);
      const logo = /<img class="shop-logo" src="([^"]+)"/.exec((await browser.open('/sign-in')).text)?.[1] ?? '';
      expect((await fetch(one.url + logo)).headers.get('content-type')).toBe('image/png');
      await browser.submit(await browser.open('/sign-up'), { email: `ann.${name.toLowerCase()}@example.com` });
      await expect.poll(() => one.output() + other.output(), { timeout: 30_000 }).toContain(`Your account at ${name}`);
    }
    await one.stop();
    await other.stop();
  },
);
