import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Languages, bundledLanguages } from '../../../server/languages/languages.ts';
import { readMessageCatalogs } from '../../../server/languages/message-catalog.ts';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { startDeviceAuthorization, submitUserCode } from '../../support/oauth/device-flow.ts';
import { authorizationPath, buildAuthorizationRequest, completeSignUp, obtainTokens, signUp } from '../../support/oauth/oauth-flow.ts';
import { startMandateServer, type MandateServer } from '../../support/server/start-mandate.ts';
import { useServer, type RunningServer } from '../../support/server/use-server.ts';
import { readLastMailTo } from '../../support/services/mailbox.ts';

const server = useServer();

/** Creates a browser that sends the given `Accept-Language` header. */
function createBrowser(acceptLanguage: string, { origin }: Pick<RunningServer, 'origin'> = server): HttpBrowser {
  return new HttpBrowser(origin, undefined, (url, init) => {
    const headers = new Headers(init.headers);
    headers.set('accept-language', acceptLanguage);
    return fetch(url, { ...init, headers });
  });
}

const languageOf = ({ text }: HtmlPage): string | undefined => /<html lang="([^"]+)"/.exec(text)?.[1];
const authorizationWith = (parameters: Record<string, string>): string => authorizationPath(buildAuthorizationRequest(parameters).query);
const linksOf = ({ text }: HtmlPage): string[] => {
  const [nav = ''] = /<nav class="languages"[^]*?<\/nav>/.exec(text) ?? [];
  return [...nav.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
};

/** Follows the link in the language switch to the given language. */
async function switchLanguage(browser: HttpBrowser, page: HtmlPage, tag: string): Promise<HtmlPage> {
  const link = linksOf(page).find((href) => href.endsWith(`language=${tag}`));
  if (link === undefined) throw new Error(`the page has no link to ${tag}: ${page.text}`);
  return browser.open(new URL(link, page.url).href);
}

describe('Accept-Language', () => {
  test.each([
    ['de', 'de', 'Bei Mandate anmelden'],
    ['fr-CA, en;q=0.5', 'fr', 'Se connecter à Mandate'],
    ['it, es;q=0.9, fr;q=0.8', 'es', 'Iniciar sesión en Mandate'],
    ['en-GB, de;q=0.9', 'en', 'Sign in to Mandate'],
    ['ja', 'en', 'Sign in to Mandate'],
    ['*', 'en', 'Sign in to Mandate'],
  ])('%s selects %s', async (header, tag, title) => {
    const page = await createBrowser(header).open('/sign-in');
    expect([languageOf(page), page.response.headers.get('content-language')]).toEqual([tag, tag]);
    expect(page.text).toContain(`<h1>${title}</h1>`);
    expect(page.response.headers.get('vary')).toContain('Accept-Language');
  });

  test.each([
    '/',
    '/nothing/here',
    '/sign-up',
    '/password-reset',
    '/sign-up/confirm?token=x',
    '/oauth/device',
    '/oauth/logout',
    '/oauth/authorize',
  ])('applies to %s', async (path) => {
    const page = await createBrowser('de').open(path);
    expect([languageOf(page), page.response.headers.get('content-language')]).toEqual(['de', 'de']);
    expect(linksOf(page)).toHaveLength(bundledLanguages.tags.length - 1);
  });
});

describe('ui_locales', () => {
  test('selects the language of all pages of the sign-in, and takes precedence over Accept-Language', async () => {
    const { email, password } = await signUp(server.origin);
    const browser = createBrowser('fr');
    const signIn = await browser.open(authorizationWith({ ui_locales: 'tlh de-AT en', prompt: 'login' }));
    expect(signIn.text).toContain('Bei Mandate anmelden');
    expect((await browser.submit(signIn, { email, password: '' })).text).toContain('Geben Sie Ihr Passwort ein');
    expect((await browser.open(`${signIn.url.pathname}/sign-up`)).text).toContain('Konto bei Mandate erstellen');
    const consent = await browser.submit(signIn, { email, password });
    expect(consent.text).toContain('Ihre Bestellungen sehen');
    expect(consent.text).toContain('längstens 90 Tage');
    expect((await browser.open('/oauth/authorize?client_id=unknown&ui_locales=es')).text).toContain(
      'La solicitud de la aplicación no es válida',
    );
  });

  test('is published in the metadata', async () => {
    for (const name of ['openid-configuration', 'oauth-authorization-server']) {
      const metadata = await (await fetch(`${server.origin}/.well-known/${name}`)).json();
      expect(metadata).toMatchObject({ ui_locales_supported: ['en', 'de', 'es', 'fr'] });
    }
  });
});

describe('the setting of the user', () => {
  test('is changed on the account page, applies to pages and e-mails, and takes precedence over ui_locales and Accept-Language', async () => {
    const { browser, email } = await signUp(server.origin);
    const form = await browser.open('/account/language');
    expect(await browser.submit(form, { locale: 'xx' })).toMatchObject({ response: { status: 400 } });
    expect((await browser.submit(form, { locale: 'de' })).text).toContain('Ihre Sprache wurde gespeichert');
    expect((await browser.open('/account')).text).toContain('Passwort ändern');
    expect((await browser.open(authorizationWith({ ui_locales: 'fr', prompt: 'consent' }))).text).toContain('Ihre Bestellungen sehen');
    expect((await browser.open('/oauth/logout')).text).toContain('Von Mandate abmelden?');
    expect((await browser.open('/oauth/device')).text).toContain('Gerät verbinden');

    const other = createBrowser('es');
    await other.submit(await other.open('/password-reset'), { email });
    const mail = await readLastMailTo(server.origin, email);
    expect([mail.subject, mail.html]).toEqual(['Setzen Sie Ihr Passwort für Mandate zurück', expect.stringContaining('<html lang="de"')]);

    expect((await browser.submit(await browser.open('/account/language'), { locale: '' })).response.status).toBe(200);
    expect(languageOf(await browser.open('/account'))).toBe('en');
  });

  test('can be changed with the API by the user, and is validated', async () => {
    const anna = await signUp(server.origin);
    const { access_token: token } = await obtainTokens(server.origin, anna, ['users.read', 'users.write']);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const path = `/api/v1/users/${anna.id}`;
    const changed = await server.callApi('PATCH', path, { token, headers, body: { locale: 'fr-CA' } });
    expect([changed.status, changed.body.locale]).toEqual([200, 'fr-CA']);
    expect((await anna.browser.open('/account')).text).toContain('Modifier le mot de passe');
    const invalid = await server.callApi('PATCH', path, { token, headers, body: { locale: 'fr_CA' } });
    expect([invalid.status, invalid.body.errors[0].pointer]).toEqual([400, '#/locale']);
    expect((await server.callApi('PATCH', path, { token, headers, body: { locale: null } })).body.locale).toBeNull();
  });

  test('is the language of the pages on which the account was created', async () => {
    const [german, neutral] = [createBrowser('de'), createBrowser('*')];
    for (const [browser, locale] of [
      [german, 'de'],
      [neutral, null],
    ] as const) {
      const user = { name: 'Anna Test', email: `anna.${Math.random()}@example.com`, password: 'correct horse staple 7' };
      await completeSignUp(server.origin, browser, await browser.open('/sign-up'), user);
      const { access_token: token } = await obtainTokens(server.origin, { browser }, ['users.read']);
      expect((await server.callApi('GET', '/api/v1/users/me', { token })).body.locale).toBe(locale);
    }
  });
});

describe('the language switch', () => {
  test('keeps the page and its query, and remembers the choice', async () => {
    const browser = createBrowser('en');
    const signIn = await browser.open('/sign-in?next=/account/email');
    const german = await switchLanguage(browser, signIn, 'de');
    expect([german.url.href, languageOf(german)]).toEqual([`${server.origin}/sign-in?next=%2Faccount%2Femail`, 'de']);
    expect(languageOf(await browser.open('/password-reset'))).toBe('de');
    expect(languageOf(await switchLanguage(browser, german, 'en'))).toBe('en');
  });

  test('keeps the authorization request, and takes precedence over its ui_locales', async () => {
    const { browser } = await signUp(server.origin);
    const consent = await browser.open(authorizationWith({ ui_locales: 'fr', prompt: 'consent' }));
    const spanish = await switchLanguage(browser, consent, 'es');
    expect([spanish.url.pathname, languageOf(spanish)]).toEqual([consent.url.pathname, 'es']);
    expect((await browser.submit(spanish, { decision: 'allow' })).externalRedirect?.searchParams.get('code')).toBeTruthy();
  });

  test('keeps the code of the device flow', async () => {
    const { browser } = await signUp(server.origin);
    const { user_code: code } = await startDeviceAuthorization(server.origin);
    const german = await switchLanguage(browser, await submitUserCode({ browser }, code), 'de');
    const french = await switchLanguage(browser, german, 'fr');
    for (const [page, button] of [
      [german, 'Die Codes stimmen überein'],
      [french, 'Les codes correspondent'],
    ] as const)
      expect(page.text).toMatch(new RegExp(`${code}[^]*${button}`));
    expect((await browser.submit(french, {})).url.pathname).toMatch(/^\/consent\//);
  });

  test('keeps the verified password and the recovery codes', async () => {
    const { browser, email, password } = await signUp(server.origin);
    const setUp = await browser.open('/account/authenticator-app');
    const secret = (/<p class="key"><code>([^<]+)/.exec(setUp.text)?.[1] ?? '').replaceAll(' ', '');
    const totpCode = (at: number): string =>
      new TOTP({ secret: Secret.fromBase32(secret), digits: 6, period: 30 }).generate({ timestamp: at });
    const shown = await browser.submit(setUp, { code: totpCode(Date.now() - 30_000) });
    const codesOf = ({ text }: HtmlPage): string[] => [...text.matchAll(/<li><code>([^<]+)/g)].map(([, code]) => code ?? '');
    const french = await browser.submit({ ...shown, url: new URL('/account/recovery-codes/shown', server.origin) }, { language: 'fr' });
    expect([languageOf(french), codesOf(french)]).toEqual(['fr', codesOf(shown)]);
    expect(codesOf(french)).toHaveLength(10);

    const second = createBrowser('en');
    const step = await second.submit(await second.open('/sign-in'), { email, password });
    expect(step.text).toContain('<button class="inline" form="second-factor-form" name="language" value="de" lang="de">Deutsch</button>');
    const action = new URL('/sign-in/second-factor', server.origin);
    const german = await second.submit({ ...step, url: action }, { code: '', language: 'de' });
    expect([german.response.status, languageOf(german)]).toEqual([200, 'de']);
    // Changing the language would hide the error.
    const wrong = await second.submit({ ...german, url: action }, { code: 'abcdef' });
    expect([wrong.response.status, wrong.text.includes('class="languages"')]).toEqual([400, false]);
    expect((await second.submit({ ...german, url: action }, { code: totpCode(Date.now()) })).url.pathname).toBe('/account');
  });

  test('does not redirect to another host', async () => {
    for (const path of ['//evil.example/', '/\\evil.example/']) {
      const response = await createBrowser('en').request(`${server.origin}${path}?language=de`);
      expect(new URL(response.headers.get('location') ?? '/', server.origin).origin).toBe(server.origin);
    }
  });

  test('does not change the query of the API or of an authorization request', async () => {
    const browser = createBrowser('en');
    expect((await browser.request('/api/v1/products?language=de', { headers: { accept: '*/*' } })).status).toBe(400);
    expect((await browser.open(authorizationWith({ language: 'de' }))).url.pathname).toContain('/sign-in/');
  });
});

test('names are escaped in every language', async () => {
  const anna = await signUp(server.origin, { name: 'Anna <b>& "Söhne"' });
  for (const tag of bundledLanguages.tags) {
    const page = await anna.browser.open(authorizationWith({ ui_locales: tag, prompt: 'consent' }));
    expect([languageOf(page), page.text]).toEqual([tag, expect.stringContaining('Anna &lt;b&gt;&amp; &quot;Söhne&quot;')]);
  }
});

describe('an additional file in the folder of the catalogs', () => {
  let directory: string;
  let italian: MandateServer;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'catalogs-'));
    await cp(new URL('../../../server/languages/catalogs', import.meta.url), directory, { recursive: true });
    const catalog = {
      language: { name: 'Italiano', direction: 'ltr', switch: 'Lingua' },
      signIn: { title: 'Accedi a {shop}', noAccount: 'Nuovo su {negozio}?', submit: 'Accedi' },
      signUp: { title: 'Crea un conto {shop' },
      permission: { 'orders.read': 'Vedere i suoi ordini' },
      mail: { resetSubject: 'Una nuova password per {shop}' },
    };
    await writeFile(join(directory, 'it.json'), JSON.stringify(catalog));
    italian = await startMandateServer({ languages: new Languages(readMessageCatalogs(pathToFileURL(`${directory}/`))) });
  });
  afterAll(async () => {
    await italian.close();
    await rm(directory, { recursive: true });
  });

  test('must contain the name of the language, and be named after its tag', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalogs-'));
    const url = pathToFileURL(`${folder}/`);
    await writeFile(join(folder, 'it.json'), '{}');
    expect(() => readMessageCatalogs(url)).toThrow('it.json is not a message catalog');
    await rm(join(folder, 'it.json'));
    await writeFile(join(folder, 'it_IT.json'), JSON.stringify({ language: { name: 'Italiano' } }));
    expect(() => readMessageCatalogs(url)).toThrow('it_IT.json is not a message catalog');
    await rm(folder, { recursive: true });
  });

  test('adds a language to the pages, the switch, the metadata and the e-mails', async () => {
    const metadata = await (await fetch(`${italian.origin}/.well-known/openid-configuration`)).json();
    expect(z.object({ ui_locales_supported: z.array(z.string()) }).parse(metadata).ui_locales_supported).toContain('it');
    const { browser, email } = await signUp(italian.origin);
    const page = await switchLanguage(browser, await browser.open('/sign-in'), 'it');
    expect(page.text).toContain('Accedi a Mandate');
    expect((await browser.open(authorizationWith({ prompt: 'consent' }))).text).toContain('Vedere i suoi ordini');
    await browser.submit(await browser.open('/account/language'), { locale: 'it' });
    await browser.submit(await browser.open('/password-reset'), { email });
    expect((await readLastMailTo(italian.origin, email)).subject).toBe('Una nuova password per Mandate');
  });

  test('shows the English text, never the key, for a message that the file lacks or that is invalid', async () => {
    const page = await createBrowser('it', italian).open('/sign-in');
    expect([languageOf(page), page.text]).toEqual(['it', expect.stringContaining('Forgot your password?')]);
    expect(page.text).toContain('New to Mandate?');
    expect(page.text).not.toContain('passwordReset');
    expect((await createBrowser('it', italian).open('/sign-up')).text).toContain('Create your Mandate account');
  });
});
