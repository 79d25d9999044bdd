import { decodeQR } from 'qr/decode.js';
import { Secret, TOTP } from 'otpauth';
import { describe, expect, test } from 'vitest';
import { matchTotpTimeStep } from '../../../server/oauth/second-factors/authenticator-app-and-recovery-codes.ts';
import { Browser, type Page } from '../../support/browser/browser.ts';
import { lastMailTo } from '../../support/services/mailbox.ts';
import { authorizationRequest, authorizePath, redeem, signUp, tokenResponse, type Person } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/with-server.ts';

const server = useServer();

type Protected = Person & { readonly secret: string; readonly codes: readonly string[] };

const codeOf = (secret: string, at = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret), digits: 6, period: 30 }).generate({ timestamp: at });
const secretOn = (page: Page): string => (/<p class="key"><code>([^<]+)/.exec(page.text)?.[1] ?? '').replaceAll(' ', '');

/** Somebody who has set up an app, with the code of the half minute before, so that the one of now is still good. */
async function withApp(): Promise<Protected> {
  const person = await signUp(server.origin);
  const page = await person.browser.open('/account/authenticator-app');
  const secret = secretOn(page);
  const done = await person.browser.submit(page, { code: codeOf(secret, Date.now() - 30_000) });
  const codes = [...done.text.matchAll(/<li><code>([^<]+)/g)].map(([, code]) => code ?? '');
  return { ...person, secret, codes };
}

async function afterPassword({ email, password }: Pick<Person, 'email' | 'password'>): Promise<{ browser: Browser; page: Page }> {
  const browser = new Browser(server.origin);
  return { browser, page: await browser.submit(await browser.open('/sign-in'), { email, password }) };
}

/** The form of the code, which goes to an address of its own. */
const enter = (browser: Browser, page: Page, code: string): Promise<Page> =>
  browser.submit({ ...page, url: new URL(/<form[^>]*action="([^"]*second-factor)"/.exec(page.text)?.[1] ?? '', page.url) }, { code });

test('the codes are those of RFC 6238, of the step before and after too, and nothing else is one', () => {
  const secret = new Secret({ buffer: new TextEncoder().encode('12345678901234567890').buffer }).base32;
  const at = new Date(59_000);
  expect(matchTotpTimeStep(secret, '287082', at)).toBe(1);
  expect(matchTotpTimeStep(secret, '287 082', new Date(89_000))).toBe(1);
  expect(matchTotpTimeStep(secret, '287082', new Date(149_000))).toBeUndefined();
  for (const code of ['', '28708', '2870822', '٢٨٧٠٨٢', 'abcdef', '287082\0']) expect(matchTotpTimeStep(secret, code, at)).toBeUndefined();
});

test('the picture holds the key that stands below it', async () => {
  const { browser } = await signUp(server.origin);
  const page = await browser.open('/account/authenticator-app');
  const svg = /<svg[^]*?<\/svg>/.exec(page.text)?.[0] ?? '';
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1] ?? 0);
  const scale = 4;
  const data = new Uint8Array((size * scale) ** 2 * 4).fill(255);
  for (const [, x = '', y = ''] of modulesOf(svg)) {
    for (let dy = 0; dy < scale; dy += 1) {
      for (let dx = 0; dx < scale; dx += 1) {
        const at = ((Number(y) * scale + dy) * size * scale + Number(x) * scale + dx) * 4;
        data.fill(0, at, at + 3);
      }
    }
  }
  const address = decodeQR({ width: size * scale, height: size * scale, data });
  expect(new URL(address).searchParams.get('secret')).toBe(secretOn(page));
  expect(address).toMatch(/^otpauth:\/\/totp\/Mandate:/);
});

/** Where the dark squares of the picture are. */
function* modulesOf(svg: string): Generator<[string, string, string]> {
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
  test('asks for a code after the password, and only both let in', async () => {
    const anna = await withApp();
    const { browser, page } = await afterPassword(anna);
    expect(page.text).toContain('One more step');
    expect((await browser.open('/account')).url.pathname).toBe('/sign-in');
    expect((await enter(browser, page, codeOf(anna.secret))).url.pathname).toBe('/account');
    expect((await lastMailTo(server.origin, anna.email)).subject).toBe('The second step at Mandate was changed');
  });

  test('takes each code once', async () => {
    const anna = await withApp();
    const code = codeOf(anna.secret);
    const [first, second] = [await afterPassword(anna), await afterPassword(anna)];
    const answers = await Promise.all([first, second].map(({ browser, page }) => enter(browser, page, code)));
    expect(answers.map(({ url }) => url.pathname).toSorted()).toEqual(['/account', '/sign-in/second-factor']);
    const third = await afterPassword(anna);
    expect((await enter(third.browser, third.page, code)).text).toContain('This code is not valid');
  });

  test('takes each recovery code once, however it is typed', async () => {
    const anna = await withApp();
    expect(anna.codes).toHaveLength(10);
    const [code = ''] = anna.codes;
    const first = await afterPassword(anna);
    expect((await enter(first.browser, first.page, ` ${code.toUpperCase().replace('-', ' ')} `)).url.pathname).toBe('/account');
    const second = await afterPassword(anna);
    expect((await enter(second.browser, second.page, code)).text).toContain('This code is not valid');
    expect((await first.browser.open('/account/security')).text).toContain('9 codes are left');
  });

  test('gives up after ten wrong codes, the right one included', async () => {
    const anna = await withApp();
    const { browser, page } = await afterPassword(anna);
    let last = page;
    for (let at = 0; at < 10; at += 1) last = await enter(browser, page, '000000');
    expect(last.response.status).toBe(400);
    const refused = await enter(browser, page, codeOf(anna.secret));
    expect([refused.response.status, refused.response.headers.has('retry-after')]).toEqual([429, true]);
  });

  test('what the first page gives along is worth nothing in another browser or for another account', async () => {
    const anna = await withApp();
    const { page } = await afterPassword(anna);
    const thief = await afterPassword(await withApp());
    const proof = /name="proof" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const form = { csrf: /name="csrf" value="([^"]*)"/.exec(thief.page.text)?.[1] ?? '', proof, code: codeOf(anna.secret) };
    const stolen = await thief.browser.open('/sign-in/second-factor', { method: 'POST', body: new URLSearchParams(form) });
    expect(stolen.text).toContain('That took too long');
    expect((await thief.browser.open('/account')).url.pathname).toBe('/sign-in');
  });

  test('tells applications that there were two proofs, and when', async () => {
    const anna = await withApp();
    const browser = new Browser(server.origin);
    const { query, verifier } = authorizationRequest({ scope: 'openid' });
    const asked = await browser.submit(await browser.open(authorizePath(query)), { email: anna.email, password: anna.password });
    const consent = await enter(browser, asked, codeOf(anna.secret));
    const { leaves } = await browser.submit(consent, { decision: 'allow' });
    const code = leaves?.searchParams.get('code') ?? '';
    const redirectUri = query['redirect_uri'] ?? '';
    const answer = await redeem(server.origin, { code, verifier, redirectUri, clientId: 'mandate-cli' });
    const [, claims = ''] = (tokenResponse.parse(await answer.json()).id_token ?? '').split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      amr: ['pwd', 'otp', 'mfa'],
      acr: 'urn:mandate:two-factors',
      auth_time: expect.any(Number),
    });
  });

  test('an application that asks for two proofs gets them, from who is signed in with one as well', async () => {
    const anna = await signUp(server.origin);
    const { browser } = await afterPassword(anna);
    const path = authorizePath(authorizationRequest({ acr_values: 'urn:mandate:two-factors' }).query);
    expect((await browser.open(path)).url.pathname).toMatch(/^\/consent\//); // there is no second step to ask for
    const page = await anna.browser.open('/account/authenticator-app');
    const secret = secretOn(page);
    await anna.browser.submit(page, { code: codeOf(secret, Date.now() - 30_000) });
    const asked = await browser.open(path);
    expect(asked.url.pathname).toMatch(/^\/sign-in\//);
    const second = await browser.submit(asked, { email: anna.email, password: anna.password });
    expect((await enter(browser, second, codeOf(secret))).url.pathname).toMatch(/^\/consent\//);
    expect((await anna.browser.open(path)).url.pathname).toMatch(/^\/consent\//);
  });

  test('can be had without it again, by who signed in with it', async () => {
    const anna = await withApp();
    const page = await anna.browser.open('/account/security');
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    await anna.browser.open('/account/authenticator-app/remove', { method: 'POST', body: new URLSearchParams({ csrf }) });
    const { page: account } = await afterPassword(anna);
    expect(account.url.pathname).toBe('/account');
  });

  test('gives new recovery codes, and the old ones end', async () => {
    const anna = await withApp();
    const page = await anna.browser.open('/account/security');
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const renewed = await anna.browser.open('/account/recovery-codes', { method: 'POST', body: new URLSearchParams({ csrf }) });
    expect([...renewed.text.matchAll(/<li><code>/g)]).toHaveLength(10);
    const { browser, page: asked } = await afterPassword(anna);
    expect((await enter(browser, asked, anna.codes[1] ?? '')).text).toContain('This code is not valid');
  });
});

test('a session from before the app was set up does not reach what is sensitive', async () => {
  const anna = await signUp(server.origin);
  const { browser: before } = await afterPassword(anna);
  const page = await anna.browser.open('/account/authenticator-app');
  await anna.browser.submit(page, { code: codeOf(secretOn(page)) });
  expect((await before.open('/account/password')).url.pathname).toBe('/sign-in');
  expect((await anna.browser.open('/account/password')).url.pathname).toBe('/account/password');
});

test('a wrong code sets up nothing, and the key stays the same', async () => {
  const anna = await signUp(server.origin);
  const page = await anna.browser.open('/account/authenticator-app');
  const refused = await anna.browser.submit(page, { code: '000000' });
  expect([refused.response.status, secretOn(refused)]).toEqual([400, secretOn(page)]);
  expect((await afterPassword(anna)).page.url.pathname).toBe('/account');
});

test('the database holds neither the key of an app nor a recovery code', async () => {
  const anna = await withApp();
  const em = server.db.em.fork();
  const rows = await Promise.all(
    ['authenticator_apps', 'recovery_codes', 'audit_events', 'outgoing_mails', 'attempts'].map((table) =>
      em.execute(`select t::text as row from ${table} t`),
    ),
  );
  const dump = JSON.stringify(rows);
  for (const secret of [anna.secret, ...anna.codes]) expect(dump).not.toContain(secret);
  expect(server.failures).toEqual([]);
});
