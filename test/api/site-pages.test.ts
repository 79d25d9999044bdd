import { describe, expect, test } from 'vitest';
import { startMandateServer, type ApiServer } from '../support/server/start-mandate.ts';
import { useServer } from '../support/server/use-server.ts';

/** The `Accept` header that browsers send on navigation. */
const browserAccept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const production = useServer({ development: false, securityContact: 'mailto:security@shop.example' });
const development = useServer({ development: true });

const open = (path: string, accept = browserAccept, { origin }: Pick<ApiServer, 'origin'> = production): Promise<Response> =>
  fetch(origin + path, { headers: { accept } });

describe('/', () => {
  test('describes the service, and all its links work', async () => {
    const response = await open('/');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await response.text();
    expect(text).toContain('You can order from Mandate');
    const links = Array.from(text.matchAll(/<a (?:class="[^"]*" )?href="([^"]+)"/g), ([, path = '']) => path);
    expect(links).toEqual(['/sign-in', '/sign-up', '/account', '/docs', '/openapi.json', '?language=de', '?language=es', '?language=fr']);
    for (const link of links) expect([link, (await open(link.replace(/^\?/, '/?'))).status]).toEqual([link, 200]);
  });

  test('shows the first commands in development, but not in production', async () => {
    expect(await (await open('/')).text()).not.toContain('npx mandate');
    const page = await (await open('/', browserAccept, development)).text();
    expect(page).toContain('is in <code class="unbroken">first-run.json</code>.');
    const text = page.replaceAll(/<[^>]*>/g, '');
    expect(text).toContain(`npx mandate login --api-url ${development.origin}`);
    expect(text).toContain('npx mandate orders pay 1');
  });
});

describe('an unknown path', () => {
  test.each(['/nothing', '/account/nothing', '/oauth/nothing', '/.well-known/nothing', '/index.php?a=1'])(
    '%s returns a page to browsers',
    async (path) => {
      const response = await open(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(response.headers.get('vary')).toBe('Accept, Accept-Language, Cookie');
      expect(await response.text()).toMatch(/<h1>Page not found<\/h1>.*<a class="button main" href="\/">/s);
    },
  );

  test.each(['*/*', 'application/json', 'application/problem+json', 'application/json, text/html;q=0.9'])(
    'returns a problem to clients that accept %s',
    async (accept) => {
      const response = await open('/nothing', accept);
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
      expect(response.headers.get('vary')).toBe('Accept, Accept-Language');
      expect(await response.json()).toMatchObject({ code: 'route_not_found' });
    },
  );

  test('returns a problem for a submitted form', async () => {
    const response = await fetch(`${production.origin}/nothing`, { method: 'POST', headers: { accept: browserAccept } });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  });

  test('below /api returns a problem to all clients', async () => {
    const response = await open('/api/v1/nothing');
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  });
});

describe('files that browsers and crawlers request automatically', () => {
  test('/favicon.ico is an icon, and pages link to it', async () => {
    const response = await open('/favicon.ico', 'image/*');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/x-icon']);
    expect(Buffer.from(await response.arrayBuffer()).readUInt32LE()).toBe(0x10000);
    for (const path of ['/', '/sign-in', '/docs'])
      expect(await (await open(path)).text()).toContain('<link rel="icon" href="/favicon.ico" />');
  });

  test('/robots.txt disallows crawling', async () => {
    const response = await open('/robots.txt', '*/*');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(await response.text()).toBe('User-agent: *\nDisallow: /\n');
  });
});

describe('/.well-known/security.txt (RFC 9116)', () => {
  const getFields = async (server: ApiServer): Promise<Record<string, string>> => {
    const response = await open('/.well-known/security.txt', '*/*', server);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return Object.fromEntries(lines.map((line) => line.split(': ', 2)));
  };

  test('names the configured contact, and expires within a year', async () => {
    const fields = await getFields(production);
    expect(fields).toMatchObject({ Contact: 'mailto:security@shop.example', 'Preferred-Languages': 'en' });
    const days = (new Date(fields['Expires'] ?? '').getTime() - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(30);
    expect(days).toBeLessThan(365);
  });

  test('names the demonstration administrator in development', async () => {
    expect(await getFields(development)).toMatchObject({ Contact: 'mailto:admin@example.com' });
  });

  test('does not exist in production without a contact', async () => {
    const withoutContact = await startMandateServer({ development: false });
    expect((await open('/.well-known/security.txt', '*/*', withoutContact)).status).toBe(404);
    await withoutContact.close();
  });
});
