import { beforeAll, describe, expect, test } from 'vitest';
import { lockCheckAndStoreBranding, readShopBranding } from '../../../server/branding/read-and-write-branding.ts';
import { buildFormRequest, HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { createSquarePng } from '../../support/browser/square-png.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  createWebApplication,
  signUp,
  signUpWithRole,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';
import { readLastMailTo } from '../../support/services/mailbox.ts';

const server = useServer();
let admin: TestUser;
beforeAll(async () => {
  admin = await signUpWithRole(server.db, server.origin, 'admin');
});

const path = '/account/branding';
const settings = {
  name: 'Ann & <Sons>',
  accent_color: '#ffd400',
  help_url: 'https://shop.example/help?a=1&b=2',
  terms_url: 'https://shop.example/terms',
  privacy_url: '',
  email_sender_name: 'Ann & Sons',
  email_footer: 'Ann & Sons\r\n12 Market Street',
};

const currentBranding = () => readShopBranding(server.db.em.fork());
const stylesheetOf = ({ text }: HtmlPage): string => /<link rel="stylesheet" href="([^"]+)"/.exec(text)?.[1] ?? '';
const csrfOn = ({ text }: HtmlPage): string => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
const pngFile = (width: number): Blob => new Blob([createSquarePng(width)]);

async function uploadLogo(browser: HttpBrowser, image: Blob, csrf?: string): Promise<HtmlPage> {
  const form = new FormData();
  form.set('csrf', csrf ?? csrfOn(await browser.open(path)));
  form.set('logo', image, 'logo.png');
  return browser.open(`${path}/logo`, { method: 'POST', body: form });
}

test('an administrator changes the branding, and every page shows it', async () => {
  expect((await admin.browser.open('/account')).text).toContain(`href="${path}"`);
  const before = await admin.browser.open('/sign-in');
  const saved = await admin.browser.submit(await admin.browser.open(path), settings);
  expect([saved.response.status, saved.url.pathname]).toEqual([200, path]);
  expect(saved.text).toContain('Your changes have been saved.');
  expect(await currentBranding()).toMatchObject({ ...settings, privacy_url: null, email_footer: 'Ann & Sons\n12 Market Street' });

  const visitor = new HttpBrowser(server.origin);
  const pages = ['/', '/sign-in', '/sign-up', '/password-reset', '/nothing', '/problems', '/problems/not_found'];
  for (const page of [...pages, '/oauth/logout/success', '/oauth/authorize?client_id=nobody']) {
    const { text, response } = await visitor.open(page);
    expect(text, page).toContain('Ann &amp; &lt;Sons&gt;</header>');
    expect(text, page).toContain('<a href="https://shop.example/help?a=1&amp;b=2">Help</a>');
    expect(text, page).toContain('<a href="https://shop.example/terms">Terms</a>');
    expect(text, page).not.toContain('Privacy</a>');
    expect(text, page).not.toMatch(/ style=/);
    expect(response.headers.get('content-security-policy'), page).toContain(`style-src 'self'`);
    expect(text, page).not.toContain('Mandate</header>');
  }
  const signIn = await visitor.open('/sign-in');
  expect(signIn.text).toContain('<title>Sign in to Ann &amp; &lt;Sons&gt; - Ann &amp; &lt;Sons&gt;</title>');
  expect(stylesheetOf(signIn)).not.toBe(stylesheetOf(before));
  const css = await fetch(server.origin + stylesheetOf(signIn));
  expect([css.headers.get('cache-control'), await css.text()]).toEqual([
    'public, max-age=31536000, immutable',
    expect.stringContaining('--accent-text: #000000'),
  ]);
  expect((await fetch(server.origin + stylesheetOf(before))).status).toBe(200);
});

test('the API reference shows the branding, with its navigation in the language of the request', async () => {
  const open = (acceptLanguage: string) =>
    fetch(`${server.origin}/docs`, { headers: { 'accept-language': acceptLanguage, accept: 'text/html' } });
  const english = await (await open('en')).text();
  expect(english).toContain('<title>API reference - Ann &amp; &lt;Sons&gt;</title>');
  expect(english).toContain('<a class="home" href="/">Ann &amp; &lt;Sons&gt;</a>');
  expect(english).toContain('<a href="https://shop.example/terms">Terms</a>');
  expect(english).toContain('.page-header .mark { color: #000000;');
  const response = await open('de');
  expect([response.headers.get('content-language'), response.headers.get('vary')]).toEqual(['de', 'Accept-Language, Cookie']);
  const german = await response.text();
  expect(german).toContain('<html lang="de"');
  expect(german).toContain('<title>API-Referenz - Ann &amp; &lt;Sons&gt;</title>');
  expect(german).toMatch(/<main id="first-operation" lang="en">.*<div\s+id="reference"\s+lang="en"/s);
  const switched = await fetch(`${server.origin}/docs?language=fr`, { headers: { accept: 'text/html' }, redirect: 'manual' });
  expect([switched.status, switched.headers.get('location'), switched.headers.get('set-cookie')]).toEqual([
    303,
    '/docs',
    expect.stringContaining('=fr;'),
  ]);
});

test('the device pages show the branding', async () => {
  const { browser } = await signUp(server.origin);
  expect((await browser.open('/oauth/device')).text).toContain('Ann &amp; &lt;Sons&gt;</header>');
});

test('invalid fields are reported together, and nothing is changed', async () => {
  const before = await currentBranding();
  const typed = { ...settings, name: ' ', accent_color: 'yellow', help_url: 'http://shop.example' };
  const page = await admin.browser.submit(await admin.browser.open(path), typed);
  expect(page.response.status).toBe(400);
  for (const field of ['name', 'accent_color', 'help_url']) expect(page.text).toContain(`<a href="#${field}">`);
  expect(page.text).toContain('value="yellow"');
  expect(await currentBranding()).toEqual(before);
});

test("another administrator's changes are not overwritten", async () => {
  const open = await admin.browser.open(path);
  await server.db.em.fork().transactional((em) => lockCheckAndStoreBranding(em, { name: 'Changed' }, () => undefined));
  const page = await admin.browser.submit(open, { ...settings, name: 'Overwritten' });
  expect([page.response.status, (await currentBranding()).name]).toEqual([400, 'Changed']);
  expect(page.text).toContain('Someone else changed the branding');
});

describe('the logo', () => {
  test('replaces the letter on every page, and can be deleted', async () => {
    const uploaded = await uploadLogo(admin.browser, pngFile(64));
    expect(uploaded.text).toContain('Your changes have been saved.');
    expect(uploaded.text).toContain('<button class="danger second">Delete the logo</button>');
    const { text } = await new HttpBrowser(server.origin).open('/sign-in');
    const source = /<img class="shop-logo" src="([^"]+)"/.exec(text)?.[1] ?? '';
    expect([(await fetch(server.origin + source)).status, text.includes('class="mark"')]).toEqual([200, false]);
    const csrf = csrfOn(await admin.browser.open(path));
    await admin.browser.open(`${path}/logo/remove`, { method: 'POST', body: new URLSearchParams({ csrf }) });
    expect((await new HttpBrowser(server.origin).open('/sign-in')).text).toContain('class="mark"');
  });

  test.each([
    ['an SVG', new Blob(['<svg xmlns="http://www.w3.org/2000/svg"/>']), 'not a PNG, JPEG or WebP image'],
    ['no file', new Blob([]), 'Choose an image file'],
    ['an image that is too small', pngFile(8), 'too small or too large'],
    ['a file that is too large', new Blob([new Uint8Array(300_000)]), 'too large. Choose a smaller file'],
  ])('cannot be %s', async (_, image, message) => {
    const page = await uploadLogo(admin.browser, image);
    expect([page.response.status, (await currentBranding()).logo]).toEqual([400, null]);
    expect(page.text).toContain(message);
    expect((await admin.browser.open(page.url.pathname)).url.pathname).toBe(path); // reloads the page
  });

  test('is not stored without a valid form token, or from a form that cannot be parsed', async () => {
    await uploadLogo(admin.browser, pngFile(64), 'invalid');
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const malformed = await admin.browser.open(`${path}/logo`, { method: 'POST', headers, body: 'no form' });
    expect([malformed.response.status, (await currentBranding()).logo]).toEqual([400, null]);
  });
});

test.each(['customer', 'staff'] as const)('the page does not exist for a user with the role %s', async (role) => {
  const { browser } = await signUpWithRole(server.db, server.origin, role);
  const account = await browser.open('/account');
  expect(account.text).not.toContain(path);
  expect((await browser.open(path)).response.status).toBe(404);
  const before = await currentBranding();
  const form = { ...settings, csrf: csrfOn(account), version: String(before.version) };
  expect((await browser.open(path, { method: 'POST', body: new URLSearchParams(form) })).response.status).toBe(404);
  expect((await uploadLogo(browser, pngFile(64), csrfOn(account))).response.status).toBe(404);
  expect(await currentBranding()).toEqual(before);
});

test('the form is not accepted without a valid token', async () => {
  const before = await currentBranding();
  const page = await admin.browser.open(path);
  const request = buildFormRequest(page, { ...settings, csrf: 'invalid' });
  await admin.browser.open(path, request);
  expect(await currentBranding()).toEqual(before);
});

test('the consent page marks first-party applications', async () => {
  await server.db.em.fork().transactional((em) => lockCheckAndStoreBranding(em, { name: 'Larkspur' }, () => undefined));
  const own = await createWebApplication(server.db, ['orders.read']);
  await server.db.em.fork().execute('update applications set first_party = true where client_id = ?', [own.clientId]);
  const other = await createWebApplication(server.db, ['orders.read']);
  const { browser } = await signUp(server.origin);
  const consent = async ({ clientId, redirectUri }: typeof own): Promise<string> => {
    const { query } = buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope: 'orders.read' });
    return (await browser.open(authorizationPath(query))).text;
  };
  expect(await consent(own)).toContain('<p class="official">Official Larkspur application</p>');
  const text = await consent(other);
  expect([text.includes('This application is not operated by Larkspur.'), text.includes('class="official"')]).toEqual([true, false]);
});

test('e-mails show the branding, as HTML and as plain text', async () => {
  await server.db.em.fork().transactional((em) => lockCheckAndStoreBranding(em, { ...settings, privacy_url: null }, () => undefined));
  await uploadLogo(admin.browser, pngFile(64));
  const { logo } = await currentBranding();
  const email = `ann.${String(logo?.hash.slice(0, 8))}@example.com`;
  const visitor = new HttpBrowser(server.origin);
  await visitor.submit(await visitor.open('/sign-up'), { email });
  const mail = await readLastMailTo(server.origin, email);
  expect([mail.subject, mail.senderName]).toEqual(['Your account at Ann & <Sons>', 'Ann & Sons']);
  expect(mail.text).toContain('\n\nAnn & <Sons>\n\nAnn & Sons\r\n12 Market Street\n\nHelp: https://shop.example/help?a=1&b=2\nTerms: ');
  expect(mail.html).toContain(`<img src="${server.origin}/assets/logo-${logo?.hash}.png" alt=""`);
  expect(mail.html).toContain('Ann &amp; &lt;Sons&gt;');
  expect(mail.html).not.toContain('<Sons>');
  expect(mail.html).toContain('@media (prefers-color-scheme: dark)');
  expect(mail.html).toContain('<a class="link" href="https://shop.example/help?a=1&amp;b=2"');
  const link = /https?:\S+/.exec(mail.text)?.[0] ?? '';
  expect(mail.html).toContain(`<a class="button" href="${link.replaceAll('&', '&amp;')}"`);
});

test('the branding page, and the branding in e-mails, are in the language of the user', async () => {
  const german = await signUpWithRole(server.db, server.origin, 'admin');
  await german.browser.open(`${path}?language=de`);
  const invalid = await german.browser.submit(await german.browser.open(path), { ...settings, accent_color: 'gelb' });
  expect(invalid.text).toContain('Geben Sie eine Farbe in der Form #rrggbb ein');
  expect(invalid.text).toContain('höchstens 256\u00a0KiB. Breite und Höhe müssen zwischen 16 und 2.048 Pixel betragen.');
  expect((await german.browser.submit(invalid, settings)).text).toContain('Ihre Änderungen wurden gespeichert.');
  const { text } = await uploadLogo(german.browser, new Blob(['no image']));
  expect(text).toContain('Diese Datei ist kein Bild im Format PNG, JPEG oder WebP.');

  const email = `anna.${Math.random()}@example.com`;
  await german.browser.submit(await german.browser.open('/password-reset'), { email });
  const mail = await readLastMailTo(server.origin, email);
  expect(mail.text).toContain('Hilfe: https://shop.example/help?a=1&b=2\nAGB: https://shop.example/terms');
  expect(mail.html).toMatch(/<a class="button"[^>]*>Konto erstellen<\/a>/);
  expect(mail.html).toContain('Wenn die Schaltfläche nicht funktioniert');
});
