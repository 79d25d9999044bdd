import { decodeQR } from 'qr/decode.js';
import { Secret, TOTP } from 'otpauth';
import { describe, expect, test } from 'vitest';
import { matchTotpTimeStep } from '../../../server/oauth/second-factors/authenticator-app-and-recovery-codes.ts';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import { readLastMailTo } from '../../support/services/mailbox.ts';
import {
  buildAuthorizationRequest,
  authorizationPath,
  redeemCode,
  signUp,
  tokenResponseSchema,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

type UserWithAuthenticatorApp = TestUser & { readonly secret: string; readonly codes: readonly string[]; readonly page: HtmlPage };

const totpCodeAt = (secret: string, at = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret), digits: 6, period: 30 }).generate({ timestamp: at });
const secretOnPage = (page: HtmlPage): string => (/<p class="key"><code>([^<]+)/.exec(page.text)?.[1] ?? '').replaceAll(' ', '');

/** Signs up a user, and sets up an authenticator app with the previous time step's code, so that the current code is still unused. */
async function signUpWithAuthenticatorApp(): Promise<UserWithAuthenticatorApp> {
  const person = await signUp(server.origin);
  const page = await person.browser.open('/account/authenticator-app');
  const secret = secretOnPage(page);
  const done = await person.browser.submit(page, { code: totpCodeAt(secret, Date.now() - 30_000) });
  const codes = [...done.text.matchAll(/<li><code>([^<]+)/g)].map(([, code]) => code ?? '');
  return { ...person, secret, codes, page: done };
}

async function submitPassword({
  email,
  password,
}: Pick<TestUser, 'email' | 'password'>): Promise<{ browser: HttpBrowser; page: HtmlPage }> {
  const browser = new HttpBrowser(server.origin);
  return { browser, page: await browser.submit(await browser.open('/sign-in'), { email, password }) };
}

/** Submits the code form, which has its own URL. */
const submitCode = (browser: HttpBrowser, page: HtmlPage, code: string): Promise<HtmlPage> =>
  browser.submit({ ...page, url: new URL(/<form[^>]*action="([^"]*second-factor)"/.exec(page.text)?.[1] ?? '', page.url) }, { code });

test('only RFC 6238 codes of the previous, current and next time step are accepted', () => {
  const secret = new Secret({ buffer: new TextEncoder().encode('12345678901234567890').buffer }).base32;
  const at = new Date(59_000);
  expect(matchTotpTimeStep(secret, '287082', at)).toBe(1);
  expect(matchTotpTimeStep(secret, '287 082', new Date(89_000))).toBe(1);
  expect(matchTotpTimeStep(secret, '287082', new Date(149_000))).toBeUndefined();
  for (const code of ['', '28708', '2870822', '٢٨٧٠٨٢', 'abcdef', '287082\0']) expect(matchTotpTimeStep(secret, code, at)).toBeUndefined();
});

test('the QR code contains the key that the page shows', async () => {
  const { browser } = await signUp(server.origin);
  const page = await browser.open('/account/authenticator-app');
  const svg = /<svg[^]*?<\/svg>/.exec(page.text)?.[0] ?? '';
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1] ?? 0);
  const scale = 4;
  const data = new Uint8Array((size * scale) ** 2 * 4).fill(255);
  for (const [, x = '', y = ''] of qrModules(svg)) {
    for (let dy = 0; dy < scale; dy += 1) {
      for (let dx = 0; dx < scale; dx += 1) {
        const at = ((Number(y) * scale + dy) * size * scale + Number(x) * scale + dx) * 4;
        data.fill(0, at, at + 3);
      }
    }
  }
  const otpauthUri = decodeQR({ width: size * scale, height: size * scale, data });
  expect(new URL(otpauthUri).searchParams.get('secret')).toBe(secretOnPage(page));
  expect(otpauthUri).toMatch(/^otpauth:\/\/totp\/Mandate:/);
});

/** Returns the coordinates of the QR code's dark modules. */
function* qrModules(svg: string): Generator<[string, string, string]> {
  for (const [, path = ''] of svg.matchAll(/ d="([^"]+)"/g)) {
    let [x, y] = [0, 0];
    for (const [, command = '', numbers = ''] of path.matchAll(/([a-zA-Z])([^a-zA-Z]*)/g)) {
      const [first = 0, second = 0] = (numbers.match(/-?\d+/g) ?? []).map(Number);
      if (command === 'M') [x, y] = [first, second];
      if (command === 'm') [x, y] = [x + first, y + second];
      if (command === 'm' || command === 'M') yield ['', String(x), String(y)];
    }
  }
}

describe('an account with an authenticator app', () => {
  test('requires a code after the password', async () => {
    const anna = await signUpWithAuthenticatorApp();
    const { browser, page } = await submitPassword(anna);
    expect(page.text).toContain('<h1>Two-step verification</h1>');
    expect((await browser.open('/account')).url.pathname).toBe('/sign-in');
    expect((await submitCode(browser, page, totpCodeAt(anna.secret))).url.pathname).toBe('/account');
    const mail = await readLastMailTo(server.origin, anna.email);
    expect(mail.subject).toBe('Your sign-in settings at Mandate were changed');
    const { ipAddress } = anna.browser;
    expect(mail.text).toMatch(/An authenticator app was added[^]*When and where:\n- .*\sUTC\n- Command line\n- IP address/);
    expect(mail.text).toContain(`IP address ${ipAddress}\n\nIf you did not make this change`);
  });

  test('has recovery codes that can be downloaded from the page that shows them, only by their owner', async () => {
    const { codes, page, ...anna } = await signUpWithAuthenticatorApp();
    const file = await submitFormContaining(anna.browser, page, 'id="codes-file"');
    expect([file.response.headers.get('content-disposition'), file.response.headers.get('cache-control')]).toEqual([
      'attachment; filename=recovery-codes.txt',
      'no-store',
    ]);
    expect(file.text.split('\r\n').slice(1, -1)).toEqual([anna.email, '', ...codes]);
    const ben = await signUp(server.origin);
    const csrf = /name="csrf" value="([^"]*)"/.exec((await ben.browser.open('/account')).text)?.[1] ?? '';
    const other = await submitFormContaining(ben.browser, page, 'id="codes-file"', { csrf });
    expect(other.text).not.toContain(codes[0]);
  });

  test('accepts each code once', async () => {
    const anna = await signUpWithAuthenticatorApp();
    const code = totpCodeAt(anna.secret);
    const [first, second] = [await submitPassword(anna), await submitPassword(anna)];
    const pages = await Promise.all([first, second].map(({ browser, page }) => submitCode(browser, page, code)));
    expect(pages.map(({ url }) => url.pathname).toSorted()).toEqual(['/account', '/sign-in/second-factor']);
    const third = await submitPassword(anna);
    expect((await submitCode(third.browser, third.page, code)).text).toContain('This code is not valid');
  });

  test('accepts each recovery code once, in upper or lower case, with a space or a hyphen', async () => {
    const anna = await signUpWithAuthenticatorApp();
    expect(anna.codes).toHaveLength(10);
    const [code = ''] = anna.codes;
    const first = await submitPassword(anna);
    expect((await submitCode(first.browser, first.page, ` ${code.toUpperCase().replace('-', ' ')} `)).url.pathname).toBe('/account');
    const second = await submitPassword(anna);
    expect((await submitCode(second.browser, second.page, code)).text).toContain('This code is not valid');
    expect((await first.browser.open('/account/security')).text).toContain('9 codes left');
  });

  test('rejects every code after ten wrong codes', async () => {
    const anna = await signUpWithAuthenticatorApp();
    const { browser, page } = await submitPassword(anna);
    let last = page;
    for (let at = 0; at < 10; at += 1) last = await submitCode(browser, page, '000000');
    expect(last.response.status).toBe(400);
    const refused = await submitCode(browser, page, totpCodeAt(anna.secret));
    expect([refused.response.status, refused.response.headers.has('retry-after')]).toEqual([429, true]);
  });

  test('rejects the proof of the password step in another browser and for another account', async () => {
    const anna = await signUpWithAuthenticatorApp();
    const { page } = await submitPassword(anna);
    const thief = await submitPassword(await signUpWithAuthenticatorApp());
    const proof = /name="proof" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const form = { csrf: /name="csrf" value="([^"]*)"/.exec(thief.page.text)?.[1] ?? '', proof, code: totpCodeAt(anna.secret) };
    const stolen = await thief.browser.open('/sign-in/second-factor', { method: 'POST', body: new URLSearchParams(form) });
    expect(stolen.text).toContain('That took too long');
    expect((await thief.browser.open('/account')).url.pathname).toBe('/sign-in');
  });

  test('reports the second factor and its time in amr, acr and auth_time', async () => {
    const anna = await signUpWithAuthenticatorApp();
    const browser = new HttpBrowser(server.origin);
    const { query, verifier } = buildAuthorizationRequest({ scope: 'openid' });
    const codePage = await browser.submit(await browser.open(authorizationPath(query)), { email: anna.email, password: anna.password });
    const consent = await submitCode(browser, codePage, totpCodeAt(anna.secret));
    const { externalRedirect: leaves } = await browser.submit(consent, { decision: 'allow' });
    const code = leaves?.searchParams.get('code') ?? '';
    const redirectUri = query['redirect_uri'] ?? '';
    const tokenEndpointResponse = await redeemCode(server.origin, { code, verifier, redirectUri, clientId: 'mandate-cli' });
    const [, claims = ''] = (tokenResponseSchema.parse(await tokenEndpointResponse.json()).id_token ?? '').split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      amr: ['pwd', 'otp', 'mfa'],
      acr: 'urn:mandate:two-factors',
      auth_time: expect.any(Number),
    });
  });

  test('requires a code when acr_values requests two factors and the session has one factor', async () => {
    const anna = await signUp(server.origin);
    const { browser } = await submitPassword(anna);
    const path = authorizationPath(buildAuthorizationRequest({ acr_values: 'urn:mandate:two-factors' }).query);
    expect((await browser.open(path)).url.pathname).toMatch(/^\/consent\//); // the account has no second factor yet
    const page = await anna.browser.open('/account/authenticator-app');
    const secret = secretOnPage(page);
    await anna.browser.submit(page, { code: totpCodeAt(secret, Date.now() - 30_000) });
    const codePage = await browser.open(path);
    expect(codePage.url.pathname).toMatch(/^\/sign-in\//);
    const second = await browser.submit(codePage, { email: anna.email, password: anna.password });
    expect((await submitCode(browser, second, totpCodeAt(secret))).url.pathname).toMatch(/^\/consent\//);
    expect((await anna.browser.open(path)).url.pathname).toMatch(/^\/consent\//);
  });

  test('does not require a code after the user removes the app', async () => {
    const anna = await signUpWithAuthenticatorApp();
    const page = await anna.browser.open('/account/security');
    expect(page.text).toContain('<button class="danger second">Remove the authenticator app</button>');
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    await anna.browser.open('/account/authenticator-app/remove', { method: 'POST', body: new URLSearchParams({ csrf }) });
    const { page: account } = await submitPassword(anna);
    expect(account.url.pathname).toBe('/account');
  });

  test('invalidates the old recovery codes when the user creates new codes', async () => {
    const anna = await signUpWithAuthenticatorApp();
    const page = await anna.browser.open('/account/security');
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const renewed = await anna.browser.open('/account/recovery-codes', { method: 'POST', body: new URLSearchParams({ csrf }) });
    expect([...renewed.text.matchAll(/<li><code>/g)]).toHaveLength(10);
    const { browser, page: codePage } = await submitPassword(anna);
    expect((await submitCode(browser, codePage, anna.codes[1] ?? '')).text).toContain('This code is not valid');
  });
});

test('a session from before the app was set up cannot open sensitive pages', async () => {
  const anna = await signUp(server.origin);
  const { browser: earlierBrowser } = await submitPassword(anna);
  const page = await anna.browser.open('/account/authenticator-app');
  await anna.browser.submit(page, { code: totpCodeAt(secretOnPage(page)) });
  expect((await earlierBrowser.open('/account/password')).url.pathname).toBe('/sign-in');
  expect((await anna.browser.open('/account/password')).url.pathname).toBe('/account/password');
});

test('a wrong code does not set up the app, and the key stays the same', async () => {
  const anna = await signUp(server.origin);
  const page = await anna.browser.open('/account/authenticator-app');
  expect(page.text).toContain('<a href="/account/security">Two-step verification and passkeys</a>');
  const refused = await anna.browser.submit(page, { code: '000000' });
  expect([refused.response.status, secretOnPage(refused)]).toEqual([400, secretOnPage(page)]);
  expect((await submitPassword(anna)).page.url.pathname).toBe('/account');
});

test('the database contains neither the key of the app nor a recovery code', async () => {
  const anna = await signUpWithAuthenticatorApp();
  const em = server.db.em.fork();
  const rows = await Promise.all(
    ['authenticator_apps', 'recovery_codes', 'audit_events', 'outgoing_mails', 'attempts'].map((table) =>
      em.execute(`select t::text as row from ${table} t`),
    ),
  );
  const dump = JSON.stringify(rows);
  for (const secret of [anna.secret, ...anna.codes]) expect(dump).not.toContain(secret);
  expect(server.warnings).toEqual([]);
});
