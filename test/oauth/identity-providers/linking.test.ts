import { describe, expect, test } from 'vitest';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { hasActiveSession, submitFormContaining } from '../../support/oauth/account-pages.ts';
import {
  addAuthenticatorApp,
  generateTotpCode,
  insertPasskey,
  readAuditTrail,
  requestsSecondFactor,
} from '../../support/oauth/credentials.ts';
import {
  changeIdentityProvider,
  FakeIdentityProvider,
  insertIdentityProvider,
  newProviderUser,
  type FakeClaims,
} from '../../support/identity-providers/fake-identity-provider.ts';
import { signIn, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { readLastMailTo, readMailLink, readMailsTo } from '../../support/services/mailbox.ts';
import { useIdentityProvider } from '../../support/identity-providers/use-identity-provider.ts';
import { useServer } from '../../support/server/use-server.ts';
import { readAuthorizationRequest, signInThroughProvider } from './provider-sign-in.ts';

const server = useServer({ development: true });
const slug = 'example';
const provider = useIdentityProvider(server, { slug });
const newBrowser = () => new HttpBrowser(server.origin);

const readLinkedSubjects = async (userId: number): Promise<string[]> =>
  (
    await server.db.em.fork().execute<{ subject: string }[]>('select subject from linked_accounts where user_id = ? order by id', [userId])
  ).map(({ subject }) => subject);

/** Claims of a provider account with the address of an existing user. */
const claimsFor = ({ email }: Pick<TestUser, 'email'>) => ({ ...newProviderUser(), email });

/** Links a provider account on the security page. Returns the last page. */
async function linkOnSecurityPage(browser: HttpBrowser, claims: FakeClaims): Promise<HtmlPage> {
  const security = await browser.open('/account/security');
  const request = readAuthorizationRequest(await submitFormContaining(browser, security, `value="${slug}"`));
  return browser.open(provider.authorize(request, claims).href);
}

/** Signs in through the provider with an address that belongs to an account, and requests the link by e-mail. */
async function requestLink(browser: HttpBrowser, claims: FakeClaims): Promise<HtmlPage> {
  const page = await signInThroughProvider(browser, provider, slug, claims);
  expect(page.text).toContain('You already have an account');
  expect(page.text).not.toContain('class="languages"'); // the provider's response cannot be used again
  return submitFormContaining(browser, page, `providers/${slug}/link`);
}

describe('an existing account with the same address', () => {
  test('is not linked automatically, even if the provider has verified the address', async () => {
    const anna = await signUp(server.origin);
    const browser = newBrowser();
    const page = await signInThroughProvider(browser, provider, slug, claimsFor(anna));
    expect([page.response.status, page.text.includes('You already have an account')]).toEqual([200, true]);
    expect([await readLinkedSubjects(anna.id), await hasActiveSession(browser)]).toEqual([[], false]);
  });

  test('is not linked, and not mentioned, if the provider does not state email_verified', async () => {
    const anna = await signUp(server.origin);
    const page = await signInThroughProvider(newBrowser(), provider, slug, { ...claimsFor(anna), email_verified: undefined });
    expect([page.response.status, page.text.includes('has not verified your e-mail address')]).toEqual([403, true]);
    expect(page.text).not.toContain('already have an account');
  });

  test('is linked after its owner has signed in', async () => {
    const anna = await signUp(server.origin);
    const claims = { ...newProviderUser(), email_verified: undefined };
    expect((await linkOnSecurityPage(anna.browser, claims)).url.pathname).toBe('/account/security');
    expect(await readLinkedSubjects(anna.id)).toEqual([claims.sub]);
    expect((await readAuditTrail(server, anna.id)).join()).toContain('linked_account.added');
    expect((await readLastMailTo(server.origin, anna.email)).subject).toContain('Mandate');
    const page = await signInThroughProvider(newBrowser(), provider, slug, claims);
    expect([page.url.pathname, page.text.includes(anna.email)]).toEqual(['/account', true]);
  });

  test('is linked with a link sent to its address, once, and only in the browser that signed in at the provider', async () => {
    const anna = await signUp(server.origin);
    const claims = claimsFor(anna);
    const browser = newBrowser();
    expect((await requestLink(browser, claims)).text).toContain('Check your e-mail');
    const link = await readMailLink(server.origin, anna.email);
    const elsewhere = await newBrowser().open(link);
    expect([elsewhere.response.status, elsewhere.text.includes('Open the link in the browser')]).toEqual([400, true]);
    const confirmation = await browser.open(link);
    expect(confirmation.text).toContain('Link Example ID to your account?');
    expect(await readLinkedSubjects(anna.id)).toEqual([]);
    const [first, second] = [await browser.submit(confirmation, {}), await browser.submit(confirmation, {})];
    expect([first.response.status, second.response.status]).toEqual([200, 400]);
    expect(await readLinkedSubjects(anna.id)).toEqual([claims.sub]);
    expect((await signInThroughProvider(browser, provider, slug, claims)).text).toContain(anna.email);
    await signIn(server.origin, anna); // the address was verified before, so the password remains
  });

  test('cannot be linked by e-mail if it has an authenticator app, because access to the mailbox is not a second factor', async () => {
    const anna = await signUp(server.origin);
    const claims = claimsFor(anna);
    const browser = newBrowser();
    const early = await signInThroughProvider(browser, provider, slug, claims);
    await addAuthenticatorApp(anna.browser);
    const late = await signInThroughProvider(newBrowser(), provider, slug, claims);
    expect(late.text).not.toContain(`providers/${slug}/link`);
    const mails = (await readMailsTo(server.origin, anna.email)).length;
    const rejected = await submitFormContaining(browser, early, `providers/${slug}/link`);
    expect([rejected.response.status, (await readMailsTo(server.origin, anna.email)).length]).toEqual([400, mails]);
  });

  test('a link is invalid after the address of the account has changed', async () => {
    const anna = await signUp(server.origin);
    const browser = newBrowser();
    await requestLink(browser, claimsFor(anna));
    const confirmation = await browser.open(await readMailLink(server.origin, anna.email));
    await server.db.em.fork().execute('update users set email = ? where id = ?', [`moved.${anna.email}`, anna.id]);
    expect((await browser.submit(confirmation, {})).response.status).toBe(400);
    expect(await readLinkedSubjects(anna.id)).toEqual([]);
  });
});

describe('pre-hijacking', () => {
  /** Creates an account that an attacker has prepared with the victim's unverified address. */
  async function prepareAccount(): Promise<TestUser> {
    const attacker = await signUp(server.origin);
    await insertPasskey(server, attacker.id, 'Attacker');
    await linkOnSecurityPage(attacker.browser, newProviderUser());
    await server.db.em.fork().execute(`update users set email_verification = 'unverified' where id = ?`, [attacker.id]);
    return attacker;
  }

  test("an account with an unverified address loses the attacker's password, passkeys, links and sessions", async () => {
    const attacker = await prepareAccount();
    const victim = claimsFor(attacker);
    const browser = newBrowser();
    await requestLink(browser, victim);
    const done = await browser.submit(await browser.open(await readMailLink(server.origin, attacker.email)), {});
    expect(done.response.status).toBe(200);
    expect(await readLinkedSubjects(attacker.id)).toEqual([victim.sub]);
    expect(await hasActiveSession(attacker.browser)).toBe(false);
    await expect(signIn(server.origin, attacker)).rejects.toThrow('sign-in ended at /sign-in');
    expect(await server.db.em.fork().execute('select 1 from passkeys where user_id = ?', [attacker.id])).toEqual([]);
    expect((await signInThroughProvider(newBrowser(), provider, slug, victim)).url.pathname).toBe('/account');
  });

  test('the attacker cannot link a provider account that claims the address of the victim, because the link goes to the victim', async () => {
    const victim = await signUp(server.origin);
    const attacker = newBrowser();
    await requestLink(attacker, claimsFor(victim)); // this provider does not verify addresses properly
    const opened = await victim.browser.open(await readMailLink(server.origin, victim.email));
    expect([opened.response.status, await readLinkedSubjects(victim.id)]).toEqual([400, []]);
  });

  test('an address that awaits confirmation cannot be linked by e-mail', async () => {
    const anna = await signUp(server.origin);
    await server.db.em.fork().execute(`update users set email_verification = 'confirmation_required' where id = ?`, [anna.id]);
    const page = await signInThroughProvider(newBrowser(), provider, slug, claimsFor(anna));
    expect(page.text).not.toContain(`providers/${slug}/link`);
  });

  test('after a first sign-in through a provider, an attacker cannot sign up with the same address', async () => {
    const victim = newProviderUser();
    await signInThroughProvider(newBrowser(), provider, slug, victim);
    const attacker = newBrowser();
    await attacker.submit(await attacker.open('/sign-up'), { email: victim.email });
    expect((await readLastMailTo(server.origin, victim.email)).subject).toContain('already have');
    expect(await server.db.em.fork().execute('select 1 as one from users where email = ?', [victim.email])).toEqual([{ one: 1 }]);
  });

  test('a password reset lists the linked accounts, and removes those that the user does not keep', async () => {
    const anna = await signUp(server.origin);
    await linkOnSecurityPage(anna.browser, newProviderUser());
    const browser = newBrowser();
    await browser.submit(await browser.open('/password-reset'), { email: anna.email });
    const page = await browser.open(await readMailLink(server.origin, anna.email));
    expect(page.text).toContain('Linked account');
    await browser.submit(page, { password: 'staple battery horse correct' });
    expect(await readLinkedSubjects(anna.id)).toEqual([]);
    expect((await readAuditTrail(server, anna.id)).join()).toContain('linked_account.removed');
  });
});

describe('the account page', () => {
  test('lists linked accounts and removes them', async () => {
    const anna = await signUp(server.origin);
    const claims = newProviderUser();
    const page = await linkOnSecurityPage(anna.browser, claims);
    expect(page.text).toContain(`${claims.email} at Example ID`);
    expect(page.text).toContain(`<button class="danger second small" aria-label="Remove ${claims.email} at Example ID">`);
    const removed = await submitFormContaining(anna.browser, page, 'linked-accounts/remove');
    expect([removed.url.pathname, await readLinkedSubjects(anna.id)]).toEqual(['/account/security', []]);
    expect((await readAuditTrail(server, anna.id)).join()).toContain('linked_account.removed');
    expect(removed.text).not.toContain(claims.email);
  });

  test('does not remove the last way to sign in: neither a linked account nor a passkey', async () => {
    const claims = newProviderUser();
    const browser = newBrowser();
    await signInThroughProvider(browser, provider, slug, claims);
    const [user] = await server.db.em.fork().execute<{ id: number }[]>('select id from users where email = ?', [claims.email]);
    const id = Number(user?.id);
    const refused = await submitFormContaining(browser, await browser.open('/account/security'), 'linked-accounts/remove');
    expect([refused.response.status, refused.text.includes('This is your only way to sign in')]).toEqual([400, true]);
    expect(await readLinkedSubjects(id)).toEqual([claims.sub]);
    await insertPasskey(server, id, 'Phone');
    await submitFormContaining(browser, await browser.open('/account/security'), 'linked-accounts/remove');
    expect(await readLinkedSubjects(id)).toEqual([]);
    const passkey = await submitFormContaining(browser, await browser.open('/account/security'), 'passkeys/remove');
    expect(passkey.text).toContain('This is your only way to sign in');
  });

  test('a linked account of a disabled provider is not a way to sign in', async () => {
    const anna = await signUp(server.origin);
    await linkOnSecurityPage(anna.browser, newProviderUser());
    await insertPasskey(server, anna.id, 'Phone');
    await server.db.em.fork().execute('delete from passwords where user_id = ?', [anna.id]);
    await changeIdentityProvider(server.db, slug, { status: 'disabled' });
    const refused = await submitFormContaining(anna.browser, await anna.browser.open('/account/security'), 'passkeys/remove');
    await changeIdentityProvider(server.db, slug, { status: 'enabled' });
    expect(refused.text).toContain('This is your only way to sign in');
  });

  test('a provider account can be linked to one user only', async () => {
    const [anna, bert] = [await signUp(server.origin), await signUp(server.origin)];
    const claims = newProviderUser();
    await linkOnSecurityPage(anna.browser, claims);
    const page = await linkOnSecurityPage(bert.browser, claims);
    expect([page.response.status, page.text.includes('already linked')]).toEqual([409, true]);
    expect([await readLinkedSubjects(anna.id), await readLinkedSubjects(bert.id)]).toEqual([[claims.sub], []]);
  });

  test('accounts with the same subject at two providers are different accounts', async () => {
    const other = new FakeIdentityProvider();
    await other.start();
    await insertIdentityProvider(server.db, other, { slug: 'other', name: 'Other ID' });
    const claims = newProviderUser();
    await signInThroughProvider(newBrowser(), provider, slug, claims);
    const browser = newBrowser();
    const page = await signInThroughProvider(browser, other, 'other', { ...claims, email: `x.${claims.email}`, name: 'Eve Else' });
    expect(page.text).toContain('Eve Else');
    await other.stop();
  });

  test('a closed account has no linked accounts', async () => {
    const anna = await signUp(server.origin);
    await linkOnSecurityPage(anna.browser, newProviderUser());
    await anna.browser.submit(await anna.browser.open('/account/close'), {});
    expect(await readLinkedSubjects(anna.id)).toEqual([]);
  });
});

test('a linked account that is removed during the second step cannot complete the sign-in', async () => {
  const anna = await signUp(server.origin);
  const claims = newProviderUser();
  await linkOnSecurityPage(anna.browser, claims);
  const { secret } = await addAuthenticatorApp(anna.browser);
  const browser = newBrowser();
  const secondStep = await signInThroughProvider(browser, provider, slug, claims);
  expect(requestsSecondFactor(secondStep)).toBe(true);
  await submitFormContaining(anna.browser, await anna.browser.open('/account/security'), 'linked-accounts/remove');
  const code = generateTotpCode(secret, Date.now() + 30_000);
  const page = await submitFormContaining(browser, secondStep, 'second-factor-form', { code });
  expect([page.response.status, await hasActiveSession(browser)]).toEqual([400, false]);
});
