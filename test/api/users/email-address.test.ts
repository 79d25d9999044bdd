import { describe, expect, test } from 'vitest';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { databaseKind } from '../../support/services/database.ts';
import { readLastMailTo, extractLink, readMailsTo } from '../../support/services/mailbox.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  obtainAuthorizationCode,
  obtainClientToken,
  createConfidentialClient,
  redeemCode,
  signIn,
  signUp,
  tokenResponseSchema,
} from '../../support/oauth/oauth-flow.ts';

const shop = withShop({ sampleData: false });
const staff = shop.staff(['users.manage']);
const administrator = shop.admin(['audit.read']);

const newPassword = 'staple battery horse correct';
const newAddress = (): string => `moved.${crypto.randomUUID()}@example.com`;
const changeAddress = (id: number, email: string, token = staff.token): Promise<ApiResponse> =>
  shop.callApi('PATCH', `/api/v1/users/${id}`, { token, body: { email } });
const getUser = async (id: number): Promise<JsonBody> => (await shop.callApi('GET', `/api/v1/users/${id}`, { token: staff.token })).body;
const auditEvents = async (id: number, action: string): Promise<JsonBody[]> =>
  (await shop.callApi('GET', `/api/v1/audit-events?user_id=${id}&action=${action}`, { token: administrator.token })).body.data;
const subjectsTo = async (address: string): Promise<string[]> => (await readMailsTo(shop.origin, address)).map(({ subject }) => subject);

async function requestReset(email: string): Promise<HtmlPage> {
  const browser = new HttpBrowser(shop.origin);
  return browser.submit(await browser.open('/password-reset'), { email });
}
const linkTo = async (address: string): Promise<string> => extractLink(await readLastMailTo(shop.origin, address));
async function submitLink(link: string, fields: Record<string, string> = {}): Promise<HtmlPage> {
  const browser = new HttpBrowser(shop.origin);
  const page = await browser.open(link);
  return page.response.status === 200 ? browser.submit(page, fields) : page;
}
const invalidLinkText = 'This link is no longer valid';

describe('an e-mail address changed by staff', () => {
  test('cannot reset the password before its confirmation', async () => {
    const anna = await signUp(shop.origin);
    const email = newAddress();
    const changed = await changeAddress(anna.id, email);
    expect([changed.status, changed.body.email, changed.body.email_verified]).toEqual([200, email, false]);

    const ben = await signUp(shop.origin);
    const [unconfirmed, ordinary] = [await requestReset(email), await requestReset(ben.email)];
    expect(unconfirmed.text.replaceAll(email, '')).toBe(ordinary.text.replaceAll(ben.email, ''));
    for (const { text } of await readMailsTo(shop.origin, email)) expect(text).not.toContain('/password-reset/confirm');
    const confirmation = await linkTo(email);
    expect(new URL(confirmation).pathname).toBe('/account/email/confirm');
    const token = new URL(confirmation).searchParams.get('token') ?? '';
    expect((await submitLink(`/password-reset/confirm?token=${token}`, { password: newPassword })).text).toContain(invalidLinkText);
    await expect(signIn(shop.origin, { email, password: newPassword })).rejects.toThrow('sign-in ended at');

    expect((await submitLink(confirmation)).text).toContain('Your e-mail address is confirmed');
    expect((await getUser(anna.id)).email_verified).toBe(true);
    await requestReset(email);
    const reset = await linkTo(email);
    expect(new URL(reset).pathname).toBe('/password-reset/confirm');
    await submitLink(reset, { password: newPassword });
    await signIn(shop.origin, { email, password: newPassword });
  });

  test('is audited with the actor, and so is its confirmation', async () => {
    const anna = await signUp(shop.origin);
    const email = newAddress();
    await changeAddress(anna.id, email);
    expect(await auditEvents(anna.id, 'email.changed')).toEqual([
      expect.objectContaining({ actor_id: staff.id, client_id: 'mandate-cli', details: { verified: false } }),
    ]);
    await submitLink(await linkTo(email));
    expect(await auditEvents(anna.id, 'email.verified')).toHaveLength(1);

    const client = await createConfidentialClient(shop.db, ['users.manage']);
    await changeAddress(anna.id, newAddress(), await obtainClientToken(shop.origin, client, ['users.manage']));
    const [latest] = await auditEvents(anna.id, 'email.changed');
    expect(latest).toMatchObject({ actor_id: null, client_id: client.clientId });
  });

  test('is announced to the old and to the new address', async () => {
    const anna = await signUp(shop.origin);
    const email = newAddress();
    await changeAddress(anna.id, email);
    const notice = await readLastMailTo(shop.origin, anna.email);
    expect([notice.subject, notice.text]).toEqual(['Your e-mail address for Mandate was changed', expect.stringContaining(email)]);
    expect(await subjectsTo(email)).toEqual(['Confirm your e-mail address for Mandate']);
  });

  test('invalidates all links that were sent before', async () => {
    const anna = await signUp(shop.origin);
    const [email, wantedEmail] = [newAddress(), newAddress()];
    await requestReset(anna.email);
    const reset = await linkTo(anna.email);
    const browser = new HttpBrowser(shop.origin);
    await browser.submit(await browser.open('/sign-up'), { email });
    const signUpLink = await linkTo(email);
    await anna.browser.submit(await anna.browser.open('/account/email'), { email: wantedEmail });
    const userChangeLink = await linkTo(wantedEmail);
    await changeAddress(anna.id, email);
    for (const link of [reset, signUpLink, userChangeLink])
      expect((await submitLink(link, { password: newPassword })).text).toContain(invalidLinkText);
    expect((await getUser(anna.id)).email).toBe(email);
    await signIn(shop.origin, { email, password: anna.password });
  });

  test('can be confirmed with a link from the account page', async () => {
    const anna = await signUp(shop.origin);
    const email = newAddress();
    await changeAddress(anna.id, email);
    const page = await anna.browser.open('/account/email');
    expect(page.text).toContain('not confirmed');
    expect((await anna.browser.submit(page, { email })).text).toContain('Check your e-mail');
    expect((await submitLink(await linkTo(email))).text).toContain('Your e-mail address is confirmed');
    expect((await anna.browser.submit(await anna.browser.open('/account/email'), { email })).text).toContain(
      'This is already your e-mail address',
    );
  });

  test.skipIf(databaseKind === 'pglite')('is safe from a concurrent password reset', async () => {
    for (let round = 0; round < 8; round += 1) {
      const anna = await signUp(shop.origin);
      const requests = [requestReset(anna.email), changeAddress(anna.id, newAddress()), requestReset(anna.email)] as const;
      expect((await Promise.all(requests))[1].status).toBe(200);
      const links = (await readMailsTo(shop.origin, anna.email))
        .filter(({ text }) => text.includes('/password-reset/confirm'))
        .map(extractLink);
      for (const link of links) expect((await submitLink(link, { password: newPassword })).text).toContain(invalidLinkText);
    }
  });
});

test('an address changed by the user on the account page follows the same rule, and is verified', async () => {
  const anna = await signUp(shop.origin);
  const email = newAddress();
  await requestReset(anna.email);
  const reset = await linkTo(anna.email);
  await anna.browser.submit(await anna.browser.open('/account/email'), { email });
  await submitLink(await linkTo(email));
  expect((await submitLink(reset, { password: newPassword })).text).toContain(invalidLinkText);
  expect(await auditEvents(anna.id, 'email.changed')).toEqual([
    expect.objectContaining({ actor_id: anna.id, client_id: null, details: { verified: true } }),
  ]);
  expect((await subjectsTo(anna.email)).at(-1)).toBe('Your e-mail address for Mandate was changed');
  expect((await subjectsTo(email)).at(-1)).toBe('Your e-mail address for Mandate was changed');
  expect(await getUser(anna.id)).toMatchObject({ email, email_verified: true });
});

test('the first password reset of a user created by staff verifies the address', async () => {
  const email = newAddress();
  const { body: user } = await shop.callApi('POST', '/api/v1/users', { token: staff.token, body: { name: 'Made', email } });
  expect(user.email_verified).toBe(false);
  await requestReset(email);
  await submitLink(await linkTo(email), { password: newPassword });
  expect((await getUser(user.id)).email_verified).toBe(true);
  await signIn(shop.origin, { email, password: newPassword });
  expect(await auditEvents(user.id, 'email.verified')).toHaveLength(1);
});

test('a user created by staff must confirm an address changed by staff before a password reset', async () => {
  const email = newAddress();
  const { body: user } = await shop.callApi('POST', '/api/v1/users', { token: staff.token, body: { name: 'Made', email: newAddress() } });
  await changeAddress(user.id, email);
  await requestReset(email);
  expect(new URL(await linkTo(email)).pathname).toBe('/account/email/confirm');
});

test('applications receive email_verified (OpenID Connect Core section 5.1)', async () => {
  const anna = await signUp(shop.origin);
  const tokens = tokenResponseSchema.parse(
    await (await redeemCode(shop.origin, await obtainAuthorizationCode(shop.origin, anna, { scope: 'openid email' }))).json(),
  );
  const userInfo = async (): Promise<unknown> =>
    (await fetch(`${shop.origin}/oauth/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } })).json();
  expect(await userInfo()).toMatchObject({ email: anna.email, email_verified: true });
  const email = newAddress();
  await changeAddress(anna.id, email);
  expect(await userInfo()).toMatchObject({ email, email_verified: false });
});
