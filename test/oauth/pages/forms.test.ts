import { beforeAll, describe, expect, test } from 'vitest';
import { oidcProviderRoutePatterns } from '../../../server/oauth/protocol/endpoint-paths-and-audiences.ts';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import {
  createCsrfVictim,
  listFormPaths,
  engineFormPaths,
  readPostPaths,
  readFormState,
  type FormFields,
  type PostPaths,
  type CsrfVictim,
} from '../../support/oauth/csrf-forms.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
let paths: PostPaths;
beforeAll(async () => {
  paths = await readPostPaths(server.db);
});

/** Paths that accept POST requests but have no form. */
const pathsWithoutForms = [
  '/mcp',
  '/mcp/readonly',
  '/oauth-protected-resource/api',
  '/oauth-protected-resource/mcp',
  '/sign-in/providers/:slug/callback',
  '/sign-in/providers/:slug/logout',
  ...oidcProviderRoutePatterns,
];

const post = (
  { browser, formTarget: target }: CsrfVictim,
  form: string,
  fields: FormFields,
  headers: Record<string, string> = {},
): Promise<Response> => browser.request(target(form), { method: 'POST', body: new URLSearchParams(fields), headers });

const csrfTokenOnPage = ({ text }: HtmlPage): string => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';

/** Returns the parts of the response that a user sees. */
async function visibleOutcome(response: Response): Promise<unknown[]> {
  const text = await response.text();
  const alert = /role="alert"[^]*?<\/ul>/.exec(text)?.[0];
  return [response.status, response.headers.get('location'), /<h1>[^]*?<\/h1>/.exec(text)?.[0], alert];
}

test('every route that accepts POST is a registered form', () => {
  expect(paths.formPaths.length).toBeGreaterThan(20);
  expect(paths.routerPaths.filter((path) => !pathsWithoutForms.includes(path)).toSorted()).toEqual([...paths.formPaths].toSorted());
  expect(engineFormPaths(paths)).toEqual(expect.arrayContaining(['/oauth/device', '/oauth/logout/confirm']));
});

test('every form rejects requests from other sites, even with a valid token', { timeout: 180_000 }, async () => {
  const victim = await createCsrfVictim(server);
  const { port } = new URL(server.origin);
  const foreignHeaders = [
    { origin: 'https://foreign.example' },
    { origin: `http://evil.localhost:${port}` },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: server.origin, 'sec-fetch-site': 'same-site' },
    { origin: 'https://foreign.example', 'sec-fetch-site': 'same-origin' },
  ];
  for (const form of listFormPaths(paths)) {
    const fields = await victim.completeFields(form);
    const before = await readFormState(server.db);
    for (const headers of foreignHeaders) {
      const response = await post(victim, form, fields, { ...headers });
      expect([form, headers, response.status, await response.text()]).toEqual([
        form,
        headers,
        403,
        expect.stringContaining('nothing was changed'),
      ]);
    }
    expect([form, await readFormState(server.db)]).toEqual([form, before]);
  }
  expect((await victim.browser.open('/account')).url.pathname).toBe('/account');
  expect(server.warnings).toEqual([]);
});

test(
  'every form rejects a request without a token or with a token of another session or from before the sign-in',
  { timeout: 180_000 },
  async () => {
    const beforeSignIn = new HttpBrowser(server.origin);
    const tokenBeforeSignIn = csrfTokenOnPage(await beforeSignIn.open('/sign-in'));
    const other = csrfTokenOnPage(await (await signUp(server.origin)).browser.open('/account'));
    const victim = await createCsrfVictim(server);
    for (const form of listFormPaths(paths)) {
      const { csrf: _csrf, xsrf: _xsrf, ...fields } = await victim.completeFields(form);
      const before = await readFormState(server.db);
      for (const token of [undefined, '', other, tokenBeforeSignIn]) {
        const tokens = token === undefined ? {} : { csrf: token, xsrf: token };
        // the request also contains the CSRF cookie that was issued before the sign-in
        const cookie = `${victim.browser.cookieHeader('/')}; ${beforeSignIn.cookieHeader('/')}`;
        const body = new URLSearchParams({ ...fields, ...tokens });
        const { status } = await fetch(server.origin + victim.formTarget(form), {
          method: 'POST',
          headers: { cookie },
          body,
          redirect: 'manual',
        });
        expect([form, token, [200, 303, 400].includes(status)]).toEqual([form, token, true]);
      }
      expect([form, await readFormState(server.db)]).toEqual([form, before]);
    }
    expect((await victim.browser.open('/account')).url.pathname).toBe('/account');
  },
);

/**
 * Forms that do not show this message: `/sign-out` redirects to the account page, which shows who is signed in. The others have a more
 * specific message.
 */
const formsWithOtherMessages = /^\/sign-in\/(:uid\/)?(second-factor|e-mail-code)$|^\/sign-in\/providers\/:slug\/link$|^\/sign-out$/;

test('every form without a valid token tells the user to try again, in the user’s language', { timeout: 180_000 }, async () => {
  const victim = await createCsrfVictim(server);
  const texts = { en: 'This page was open for too long. Please try again.', de: 'Diese Seite war zu lange geöffnet.' };
  for (const form of paths.formPaths.filter((path) => !formsWithOtherMessages.test(path))) {
    const fields = await victim.completeFields(form);
    for (const [language, text] of Object.entries(texts)) {
      const response = await post(victim, form, { ...fields, csrf: '' }, { 'accept-language': language });
      expect([form, response.status, await response.text()]).toEqual([form, 400, expect.stringContaining(text)]);
    }
  }
});

test('the page for an expired form leads to the page that contains the form', async () => {
  const { browser } = await signUp(server.origin);
  const leadsTo = async (form: string): Promise<string | undefined> => {
    const { text } = await browser.open(form, { method: 'POST', body: new URLSearchParams({ csrf: 'expired' }) });
    expect(text).toContain('<h1>Nothing was changed</h1>');
    return /<a [^>]*href="([^"]+)"[^>]*>Back to the page<\/a>/.exec(text)?.[1];
  };
  expect(await leadsTo('/account/apps')).toBe('/account/apps');
  expect(await leadsTo('/account/passkeys/remove')).toBe('/account/security');
  expect(await leadsTo('/account/email/confirm?token=a&language=de')).toBe('/account/email/confirm?token=a&amp;language=de');
});

test('every form accepts a valid token, with and without browser headers', { timeout: 300_000 }, async () => {
  const ownSiteHeaders = { origin: server.origin, 'sec-fetch-site': 'same-origin' };
  for (const [at, form] of listFormPaths(paths).entries()) {
    const victim = await createCsrfVictim(server);
    const fields = await victim.completeFields(form);
    const refused = await visibleOutcome(await post(victim, form, { ...fields, csrf: '', xsrf: '' }));
    const before = await readFormState(server.db);
    const accepted = await visibleOutcome(await post(victim, form, fields, at % 2 === 0 ? ownSiteHeaders : {}));
    const hasEffect =
      JSON.stringify(accepted) !== JSON.stringify(refused) || JSON.stringify(await readFormState(server.db)) !== JSON.stringify(before);
    expect([form, accepted[0] === 403, hasEffect]).toEqual([form, false, true]);
  }
});

describe('before sign-in', () => {
  const wrongCredentials = { email: 'nobody@example.com', password: 'wrong horse battery' };

  test('a token is valid only in the browser that loaded the page', async () => {
    const [one, other] = [new HttpBrowser(server.origin), new HttpBrowser(server.origin)];
    const page = await one.open('/sign-in');
    await other.open('/sign-in');
    expect((await other.submit(page, wrongCredentials)).text).toContain('This page was open for too long');
    expect((await one.submit(page, wrongCredentials)).text).not.toContain('This page was open for too long');
  });

  test.each(['/sign-in', '/sign-up', '/password-reset'])(
    '%s asks again without a valid token, and keeps the e-mail address',
    async (path) => {
      const page = await new HttpBrowser(server.origin).open(path);
      const again = await new HttpBrowser(server.origin).submit(page, { ...wrongCredentials, email: 'typed@example.com' });
      expect([again.response.status, again.url.pathname]).toEqual([400, path]);
      expect(again.text).toContain('This page was open for too long');
      expect(again.text).toContain('value="typed@example.com"');
    },
  );

  test('a cookie that the server has not signed is rejected and replaced', async () => {
    const browser = new HttpBrowser(server.origin);
    const token = csrfTokenOnPage(await browser.open('/sign-in'));
    const [id = '', signature = ''] = (browser.cookieValue('mandate_form') ?? '').split('.');
    expect([id.length, signature.length]).toEqual([32, 43]);
    for (const forgedCookie of [id, `${'A'.repeat(32)}.${signature}`, `${id}.${'A'.repeat(43)}`]) {
      const headers = { cookie: `mandate_form=${forgedCookie}` };
      const page = await fetch(`${server.origin}/sign-in`, { headers });
      expect(page.headers.getSetCookie().join()).toMatch(/^mandate_form=[\w-]{32}\.[\w-]{43};/);
      const body = new URLSearchParams({ ...wrongCredentials, csrf: token });
      const response = await fetch(`${server.origin}/sign-in`, { method: 'POST', headers, body });
      expect(await response.text()).toContain('This page was open for too long');
    }
  });

  test('a sign-in page from before a sign-in in another tab is shown again and then accepted', async () => {
    const { email, password } = await signUp(server.origin);
    const browser = new HttpBrowser(server.origin);
    const [left, right] = [await browser.open('/sign-in'), await browser.open('/sign-in')];
    expect((await browser.submit(left, { email, password })).url.pathname).toBe('/account');
    const reloadedPage = await browser.submit(right, { email, password });
    expect([reloadedPage.response.status, reloadedPage.text.includes('This page was open for too long')]).toEqual([400, true]);
    expect((await browser.submit(reloadedPage, { email, password })).url.pathname).toBe('/account');
  });
});

test('the API does not accept browser cookies as credentials', async () => {
  const { browser } = await signUp(server.origin);
  for (const path of ['/api/v1/users/1', '/mcp']) {
    const { status } = await browser.request(path, { method: 'PATCH', body: new URLSearchParams({ name: 'Attacker' }) });
    expect([path, status]).toEqual([path, 401]);
  }
});

test('a path with an invalid percent encoding returns a page that explains it (400)', async () => {
  const response = await fetch(`${server.origin}/consent/%ff`);
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    400,
    expect.stringContaining('text/html'),
    expect.stringContaining('The request could not be read'),
  ]);
});
