import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { scopeNames } from '@mandate/contract';
import { HttpBrowser } from '../browser/browser.ts';
import { addAuthenticatorApp, createApiKey, insertPasskey } from './credentials.ts';
import { startDeviceAuthorization } from './device-flow.ts';
import { readMailLink } from '../services/mailbox.ts';
import {
  buildAuthorizationRequest,
  authorizationPath,
  cliClient,
  signUp,
  signUpWithRole,
  obtainTokens,
  createWebApplication,
  type TestUser,
} from './oauth-flow.ts';
import { createSquarePngDataUri } from '../browser/square-png.ts';
import type { RunningServer } from '../server/use-server.ts';

export type OpenPage = (page: Page) => Promise<void>;

export const longUserName = `Wilhelmina ${'Featherstonehaugh-Cholmondeley '.repeat(4)}`.trim().slice(0, 200);
const createLongEmailAddress = (): string =>
  `${'a-rather-long-address.'.repeat(2)}${randomBytes(6).toString('hex')}@a-long-domain-name.example.com`;

const consentScope = 'openid profile offline_access users.read orders.read orders.write orders.manage users.manage';

/** Returns functions that open the pages and their error states. `scripted`: whether the browser runs JavaScript. */
export function createPageScenarios(server: RunningServer, scripted: boolean): Record<string, OpenPage> {
  return {
    start: async (page) => void (await page.goto(`${server.origin}/`)),
    'an unknown path': async (page) => void (await page.goto(`${server.origin}/nothing/here`)),
    'sign-in': async (page) => void (await page.goto(`${server.origin}/sign-in`)),
    'sign-in with errors': async (page) => {
      await page.goto(`${server.origin}/sign-in`);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    },
    'sign-up': async (page) => void (await page.goto(`${server.origin}/sign-up`)),
    'sign-up with errors': async (page) => {
      await page.goto(`${server.origin}/sign-up`);
      await page.getByRole('button', { name: 'Send the link' }).click();
    },
    'e-mail sent': async (page) => requestSignUpLink(page, createLongEmailAddress()),
    'sign-up form from the e-mail link': async (page) => {
      const email = createLongEmailAddress();
      await requestSignUpLink(page, email);
      await page.goto(await readMailLink(server.origin, email));
    },
    'sign-up form from the e-mail link with errors': async (page) => {
      const email = createLongEmailAddress();
      await requestSignUpLink(page, email);
      await page.goto(await readMailLink(server.origin, email));
      await page.getByRole('button', { name: 'Create account' }).click();
    },
    'invalid e-mail link': async (page) => void (await page.goto(`${server.origin}/sign-up/confirm?token=x`)),
    'password reset': async (page) => void (await page.goto(`${server.origin}/password-reset`)),
    'new password with errors': async (page) => {
      await openNewPassword(page, await signUp(server.origin));
      await page.getByRole('button', { name: 'Save password' }).click();
    },
    'new password with existing credentials and errors': async (page) => {
      const anna = await createUserWithCredentials(server);
      await addAuthenticatorApp(anna.browser);
      await openNewPassword(page, anna);
      await page.getByLabel(/Keep: Passkey/).check();
      await page.getByRole('button', { name: 'Save password' }).click();
    },
    'password reset complete': async (page) => {
      await openNewPassword(page, await createUserWithCredentials(server));
      await page.getByLabel('New password', { exact: true }).fill('staple battery horse correct');
      await page.getByLabel(/Keep: Passkey/).check();
      await page.getByRole('button', { name: 'Save password' }).click();
      await page.getByRole('heading', { name: 'Your password has been changed' }).waitFor();
    },
    'second factor with errors': async (page) => {
      const anna = await signUp(server.origin);
      const { secret } = await setUpAuthenticatorApp(server, page, anna, scripted);
      await page.context().clearCookies();
      await submitSignInForm(server, page, anna);
      await page.getByLabel('Code from your authenticator app').fill(secret.slice(0, 6));
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
    'authenticator app setup': async (page) => openAs(page, await signUp(server.origin), '/account/authenticator-app'),
    'recovery codes': async (page) => void (await setUpAuthenticatorApp(server, page, await signUp(server.origin), scripted)),
    security: async (page) => {
      const anna = await signUp(server.origin);
      await addAuthenticatorApp(anna.browser);
      await signInAs(server, page, anna);
      await page.goto(`${server.origin}/account/security`);
    },
    sessions: async (page) => {
      await submitSignInForm(server, page, await signUp(server.origin, { name: longUserName, email: createLongEmailAddress() }));
      await page.waitForURL('**/account');
      await page.goto(`${server.origin}/account/sessions`);
    },
    applications: async (page) => {
      const anna = await signUp(server.origin, { name: longUserName });
      await obtainTokens(server.origin, anna, ['users.read', 'orders.read', 'orders.write', 'api_keys.manage', 'connected_apps.read']);
      await signInAs(server, page, anna);
      await page.goto(`${server.origin}/account/apps`);
    },
    'applications with API keys': async (page) => openAs(page, await createUserWithCredentials(server), '/account/apps'),
    'confirmation of an application removal': async (page) => {
      await openAs(page, await createUserWithCredentials(server), '/account/apps');
      await page.locator('details.confirm summary').first().click();
      await page.locator('details[open] button.danger').waitFor();
    },
    'confirmation of an API key revocation': async (page) => {
      await openAs(page, await createUserWithCredentials(server), '/account/api-keys');
      await page.locator('details.confirm summary').first().click();
      await page.getByRole('button', { name: 'Revoke key' }).waitFor();
    },
    'API keys': async (page) => openAs(page, await createUserWithCredentials(server), '/account/api-keys'),
    'no API keys': async (page) => openAccountPage(page, 'api-keys'),
    'change password with API keys': async (page) => openAs(page, await createUserWithCredentials(server), '/account/password'),
    'change password': async (page) => openAccountPage(page, 'password'),
    'change e-mail address': async (page) => openAccountPage(page, 'email'),
    'close account': async (page) => openAccountPage(page, 'close'),
    'too many attempts': async (page) => {
      const { email } = await signUp(server.origin);
      const attacker = new HttpBrowser(server.origin);
      const signIn = await attacker.open('/sign-in');
      for (let at = 0; at < 10; at += 1) await attacker.submit(signIn, { email, password: 'wrong' });
      await page.setExtraHTTPHeaders({ 'x-forwarded-for': attacker.ipAddress }); // the limit applies only to the attacker's IP address
      await page.goto(`${server.origin}/sign-in`);
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password', { exact: true }).fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Too many attempts' }).waitFor();
    },
    'e-mail code with errors': async (page) => {
      const user = await signUp(server.origin);
      const attacker = new HttpBrowser(server.origin);
      await attacker.submit(await attacker.open('/sign-in'), { email: user.email, password: 'wrong' });
      await server.db.em.fork().execute(`update attempts set points = 100 where key like 'password.ceiling:%'`);
      await submitSignInForm(server, page, user);
      await page.getByLabel('Code from the e-mail').fill('aaaaa-aaaaa');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await server.db.em.fork().execute(`delete from attempts where key like 'password.ceiling:%'`);
    },
    consent: async (page) => openConsent(page, 'mandate-cli', cliClient.redirectUri),
    'consent for a third-party website': async (page) => {
      const client = await createWebApplication(server.db, ['users.read', 'orders.read', 'orders.write', 'orders.manage', 'users.manage']);
      await openConsent(page, client.clientId, client.redirectUri);
    },
    account: async (page) => openAs(page, await signUpWithRole(server.db, server.origin, 'customer'), '/account'),
    'sign-out': async (page) => openAs(page, await signUpWithRole(server.db, server.origin, 'customer'), '/oauth/logout'),
    'signed out': async (page) => void (await page.goto(`${server.origin}/oauth/logout/success`)),
    'authorization error': async (page) => void (await page.goto(`${server.origin}/oauth/authorize?client_id=nobody`)),
    'e-mail sent to the new address': async (page) => {
      await openAccountPage(page, 'email');
      await page.getByLabel('New e-mail address').fill(createLongEmailAddress());
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
    },
    'confirm new e-mail address': async (page) => {
      await openAccountPage(page, 'email');
      const email = createLongEmailAddress();
      await page.getByLabel('New e-mail address').fill(email);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
      await page.goto(await readMailLink(server.origin, email));
    },
    'password changed': async (page) => {
      await openAccountPage(page, 'password');
      await page.getByLabel('New password', { exact: true }).fill('staple battery horse correct');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Your password has been changed' }).waitFor();
    },
    'account closed': async (page) => {
      await openAccountPage(page, 'close');
      await page.getByRole('button', { name: 'Close the account' }).click();
      await page.getByRole('heading', { name: 'Your account is closed' }).waitFor();
    },
    'device code': async (page) => openAs(page, await signUp(server.origin), '/oauth/device'),
    'device code with errors': async (page) => {
      await signInAs(server, page, await signUp(server.origin));
      await page.goto(`${server.origin}/oauth/device`);
      await page.getByLabel('Code').fill('BBBB-BBBB');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
    'device confirmation': async (page) => confirmDevice(page),
    'consent for a device': async (page) => {
      await confirmDevice(page);
      await page.getByRole('button', { name: 'The codes match' }).click();
      await page.getByRole('button', { name: 'Allow' }).waitFor();
    },
    'device connected': async (page) => {
      await confirmDevice(page);
      await page.getByRole('button', { name: 'The codes match' }).click();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('heading', { name: 'The device is connected' }).waitFor();
    },
    'consent with a logo and one permission': async (page) => {
      const client = await createWebApplication(server.db, ['orders.read']);
      const logo = createSquarePngDataUri(64);
      await server.db.em
        .fork()
        .execute('update applications set name = ?, logo_uri = ? where client_id = ?', ['Parcel Tracker', logo, client.clientId]);
      await openConsent(page, client.clientId, client.redirectUri, 'openid orders.read');
    },
    'consent for all permissions': async (page) => {
      const client = await createWebApplication(server.db, scopeNames);
      await server.db.em
        .fork()
        .execute('update applications set name = ? where client_id = ?', [longUserName.slice(0, 100), client.clientId]);
      await openConsent(
        page,
        client.clientId,
        client.redirectUri,
        ['openid', 'profile', 'email', 'offline_access', ...scopeNames].join(' '),
      );
    },
  };

  async function openNewPassword(page: Page, { email }: Pick<TestUser, 'email'>): Promise<void> {
    await page.goto(`${server.origin}/password-reset`);
    await page.getByLabel('E-mail address').fill(email);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
    await page.goto(await readMailLink(server.origin, email));
  }

  async function requestSignUpLink(page: Page, email: string): Promise<void> {
    await page.goto(`${server.origin}/sign-up`);
    await page.getByLabel('E-mail address').fill(email);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  }

  async function openAs(page: Page, user: TestUser, path: string): Promise<void> {
    await signInAs(server, page, user);
    await page.goto(server.origin + path);
  }

  async function openAccountPage(page: Page, name: string): Promise<void> {
    await openAs(page, await signUp(server.origin, { name: longUserName, email: createLongEmailAddress() }), `/account/${name}`);
  }

  async function confirmDevice(page: Page): Promise<void> {
    await signInAs(server, page, await signUp(server.origin, { name: longUserName }));
    const scope = 'openid offline_access users.read orders.read';
    const { verification_uri_complete: verificationUri } = await startDeviceAuthorization(server.origin, scope);
    await page.goto(verificationUri);
    await page.getByRole('button', { name: 'The codes match' }).waitFor();
  }

  async function openConsent(page: Page, clientId: string, uri: string, scope = consentScope): Promise<void> {
    await signInAs(server, page, await signUpWithRole(server.db, server.origin, 'admin'));
    await page.goto(server.origin + authorizationPath(buildAuthorizationRequest({ client_id: clientId, redirect_uri: uri, scope }).query));
  }
}

/** Creates a user with a passkey, an active API key and a revoked API key. All names have the maximum length. */
async function createUserWithCredentials(server: RunningServer): Promise<TestUser> {
  const user = await signUp(server.origin, { name: longUserName });
  await insertPasskey(server, user.id, longUserName.slice(0, 100));
  const { access_token: token } = await obtainTokens(server.origin, user, ['api_keys.manage', 'users.read']);
  await createApiKey(server, token, 'W'.repeat(100));
  const { id } = await createApiKey(server, token, longUserName.slice(0, 100));
  await server.db.em.fork().execute('update api_keys set revoked_at = now() where id = ?', [id]);
  return user;
}

type Credentials = { readonly email: string; readonly password: string };

/** Submits the sign-in form. The next page may request a second factor. */
export async function submitSignInForm(server: Pick<RunningServer, 'origin'>, page: Page, user: Credentials): Promise<void> {
  await page.goto(`${server.origin}/sign-in`);
  await page.getByLabel('E-mail address').fill(user.email);
  await page.getByLabel('Password', { exact: true }).fill(user.password);
  await page.keyboard.press('Enter');
}

/** Signs the user in by copying the session cookies of the user's HTTP client, which is faster than submitting the sign-in form. */
export async function signInAs(server: Pick<RunningServer, 'origin'>, page: Page, { browser }: Pick<TestUser, 'browser'>): Promise<void> {
  const domain = new URL(server.origin).hostname;
  await page.context().addCookies(browser.cookies.map((cookie) => ({ ...cookie, domain, httpOnly: true, sameSite: 'Lax' })));
}

export async function setUpAuthenticatorApp(
  server: RunningServer,
  page: Page,
  user: TestUser,
  scripted: boolean,
): Promise<{ secret: string }> {
  await signInAs(server, page, user);
  await page.goto(`${server.origin}/account/authenticator-app`);
  const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
  await page.getByLabel('Code from your authenticator app').fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate());
  if (!scripted) await page.keyboard.press('Enter'); // the page's script submits the form automatically
  await page.getByRole('heading', { name: 'Save these codes' }).waitFor();
  return { secret };
}
