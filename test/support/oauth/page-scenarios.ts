import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { scopeNames } from '@mandate/contract';
import { Browser as MandateBrowser } from '../browser/browser.ts';
import { addAuthenticatorApp, createApiKey, insertPasskey } from './credentials.ts';
import { beginOnDevice } from './device-flow.ts';
import { followMailTo } from '../services/mailbox.ts';
import {
  authorizationRequest,
  authorizePath,
  commandLine,
  signUp,
  signUpAs,
  tokensFor,
  webApplication,
  type Person,
} from './oauth-flow.ts';
import { encodePng } from '../browser/png.ts';
import type { RunningServer } from '../server/with-server.ts';

export type Walk = (page: Page) => Promise<void>;

export const longName = `Wilhelmina ${'Featherstonehaugh-Cholmondeley '.repeat(4)}`.trim().slice(0, 200);
const longAddress = (): string => `${'a-rather-long-address.'.repeat(2)}${randomBytes(6).toString('hex')}@a-long-domain-name.example.com`;

/** Leads to each page, as it looks when something is wrong too. `scripted`: whether the browser runs scripts. */
export function walksTo(server: RunningServer, scripted: boolean): Record<string, Walk> {
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
      await page.getByRole('button', { name: 'Continue by e-mail' }).click();
    },
    'message sent': async (page) => askForLink(page, longAddress()),
    'sign-up after the message': async (page) => {
      const email = longAddress();
      await askForLink(page, email);
      await page.goto(await followMailTo(server.origin, email));
    },
    'sign-up after the message with errors': async (page) => {
      const email = longAddress();
      await askForLink(page, email);
      await page.goto(await followMailTo(server.origin, email));
      await page.getByRole('button', { name: 'Create account' }).click();
    },
    'a link that is over': async (page) => void (await page.goto(`${server.origin}/sign-up/confirm?token=x`)),
    'password reset': async (page) => void (await page.goto(`${server.origin}/password-reset`)),
    'new password with errors': async (page) => {
      await openNewPassword(page, await signUp(server.origin));
      await page.getByRole('button', { name: 'Save the password' }).click();
    },
    'new password with credentials to keep, and with errors': async (page) => {
      const anna = await withCredentials(server);
      await addAuthenticatorApp(anna.browser);
      await openNewPassword(page, anna);
      await page.getByLabel(/Keep: Passkey/).check();
      await page.getByRole('button', { name: 'Save the password' }).click();
    },
    'password was reset': async (page) => {
      await openNewPassword(page, await withCredentials(server));
      await page.getByLabel('New password', { exact: true }).fill('staple battery horse correct');
      await page.getByLabel(/Keep: Passkey/).check();
      await page.getByRole('button', { name: 'Save the password' }).click();
      await page.getByRole('heading', { name: 'Your password is changed' }).waitFor();
    },
    'second step': async (page) => {
      const anna = await signUp(server.origin);
      const { secret } = await setUpApp(server, page, anna, scripted);
      await page.context().clearCookies();
      await signInWith(server, page, anna);
      await page.getByLabel('Code from your authenticator app').fill(secret.slice(0, 6));
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
    'setting up the app': async (page) => {
      await signInAs(server, page, await signUp(server.origin));
      await page.goto(`${server.origin}/account/authenticator-app`);
    },
    'recovery codes': async (page) => void (await setUpApp(server, page, await signUp(server.origin), scripted)),
    security: async (page) => {
      await setUpApp(server, page, await signUp(server.origin), scripted);
      await page.goto(`${server.origin}/account/security`);
    },
    sessions: async (page) => accountPart(page, 'sessions'),
    applications: async (page) => {
      const anna = await signUp(server.origin, { name: longName });
      await tokensFor(server.origin, anna, ['users.read', 'orders.read', 'orders.write', 'api_keys.manage', 'connected_apps.read']);
      await signInAs(server, page, anna);
      await page.goto(`${server.origin}/account/apps`);
    },
    'applications with API keys': async (page) => {
      await signInAs(server, page, await withCredentials(server));
      await page.goto(`${server.origin}/account/apps`);
    },
    'API keys': async (page) => {
      await signInAs(server, page, await withCredentials(server));
      await page.goto(`${server.origin}/account/api-keys`);
    },
    'no API keys': async (page) => accountPart(page, 'api-keys'),
    'change of password with API keys': async (page) => {
      await signInAs(server, page, await withCredentials(server));
      await page.goto(`${server.origin}/account/password`);
    },
    'change of password': async (page) => accountPart(page, 'password'),
    'change of address': async (page) => accountPart(page, 'email'),
    'closing the account': async (page) => accountPart(page, 'close'),
    'too many attempts': async (page) => {
      const { email } = await signUp(server.origin);
      const guesser = new MandateBrowser(server.origin);
      const signIn = await guesser.open('/sign-in');
      for (let at = 0; at < 10; at += 1) await guesser.submit(signIn, { email, password: 'wrong' });
      await page.setExtraHTTPHeaders({ 'x-forwarded-for': guesser.address }); // only the network of the guesses is refused
      await page.goto(`${server.origin}/sign-in`);
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password', { exact: true }).fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Too many attempts' }).waitFor();
    },
    'code from an e-mail': async (page) => {
      const owner = await signUp(server.origin);
      const guesser = new MandateBrowser(server.origin);
      await guesser.submit(await guesser.open('/sign-in'), { email: owner.email, password: 'wrong' });
      await server.db.em.fork().execute(`update attempts set points = 100 where key like 'password.ceiling:%'`);
      await signInWith(server, page, owner);
      await page.getByLabel('Code from the e-mail').fill('aaaaa-aaaaa');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await server.db.em.fork().execute(`delete from attempts where key like 'password.ceiling:%'`);
    },
    consent: async (page) => openConsent(page, 'mandate-cli', commandLine.redirectUri),
    'consent for somebody else’s website': async (page) => {
      const client = await webApplication(server.db, ['users.read', 'orders.read', 'orders.write', 'orders.manage', 'users.manage']);
      await openConsent(page, client.clientId, client.redirectUri);
    },
    account: async (page) => {
      await signInAs(server, page, await signUpAs(server.db, server.origin, 'customer'));
    },
    'sign-out': async (page) => {
      await signInAs(server, page, await signUpAs(server.db, server.origin, 'customer'));
      await page.goto(`${server.origin}/oauth/logout`);
    },
    'signed out': async (page) => void (await page.goto(`${server.origin}/oauth/logout/success`)),
    failure: async (page) => void (await page.goto(`${server.origin}/oauth/authorize?client_id=nobody`)),
    'message about another address': async (page) => {
      await accountPart(page, 'email');
      await page.getByLabel('New e-mail address').fill(longAddress());
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
    },
    'use another address': async (page) => {
      await accountPart(page, 'email');
      const email = longAddress();
      await page.getByLabel('New e-mail address').fill(email);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
      await page.goto(await followMailTo(server.origin, email));
    },
    'password changed': async (page) => {
      await accountPart(page, 'password');
      await page.getByLabel('New password', { exact: true }).fill('staple battery horse correct');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Your password is changed' }).waitFor();
    },
    'account closed': async (page) => {
      await accountPart(page, 'close');
      await page.getByRole('button', { name: 'Close the account permanently' }).click();
      await page.getByRole('heading', { name: 'Your account is closed' }).waitFor();
    },
    'code of a device': async (page) => {
      await signInAs(server, page, await signUp(server.origin));
      await page.goto(`${server.origin}/oauth/device`);
    },
    'wrong code of a device': async (page) => {
      await signInAs(server, page, await signUp(server.origin));
      await page.goto(`${server.origin}/oauth/device`);
      await page.getByLabel('Code').fill('BBBB-BBBB');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
    'is it your device': async (page) => confirmDevice(page),
    'consent for a device': async (page) => {
      await confirmDevice(page);
      await page.getByRole('button', { name: 'It is the same code' }).click();
      await page.getByRole('button', { name: 'Allow' }).waitFor();
    },
    'device connected': async (page) => {
      await confirmDevice(page);
      await page.getByRole('button', { name: 'It is the same code' }).click();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('heading', { name: 'The device is connected' }).waitFor();
    },
    'consent with a logo and one permission': async (page) => {
      const client = await webApplication(server.db, ['orders.read']);
      const picture = encodePng(64);
      await server.db.em
        .fork()
        .execute('update applications set name = ?, logo_uri = ? where client_id = ?', ['Parcel Tracker', picture, client.clientId]);
      await openConsent(page, client.clientId, client.redirectUri, 'openid orders.read');
    },
    'consent for everything': async (page) => {
      const client = await webApplication(server.db, scopeNames);
      await server.db.em.fork().execute('update applications set name = ? where client_id = ?', [longName.slice(0, 100), client.clientId]);
      await openConsent(
        page,
        client.clientId,
        client.redirectUri,
        ['openid', 'profile', 'email', 'offline_access', ...scopeNames].join(' '),
      );
    },
  };

  async function openNewPassword(page: Page, { email }: Pick<Person, 'email'>): Promise<void> {
    await page.goto(`${server.origin}/password-reset`);
    await page.getByLabel('E-mail address').fill(email);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
    await page.goto(await followMailTo(server.origin, email));
  }

  async function askForLink(page: Page, email: string): Promise<void> {
    await page.goto(`${server.origin}/sign-up`);
    await page.getByLabel('E-mail address').fill(email);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  }

  async function accountPart(page: Page, part: string): Promise<void> {
    await signInAs(server, page, await signUp(server.origin, { name: longName, email: longAddress() }));
    await page.goto(`${server.origin}/account/${part}`);
  }

  async function confirmDevice(page: Page): Promise<void> {
    await signInAs(server, page, await signUp(server.origin, { name: longName }));
    const { verification_uri_complete: address } = await beginOnDevice(server.origin, 'openid offline_access users.read orders.read');
    await page.goto(address);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'It is the same code' }).waitFor();
  }

  async function openConsent(
    page: Page,
    clientId: string,
    uri: string,
    scope = 'openid profile offline_access users.read orders.read orders.write orders.manage users.manage',
  ): Promise<void> {
    await signInAs(server, page, await signUpAs(server.db, server.origin, 'admin'));
    await page.goto(server.origin + authorizePath(authorizationRequest({ client_id: clientId, redirect_uri: uri, scope }).query));
  }
}

/** A user with a passkey, an active and a revoked API key; the names are as long as names can be. */
async function withCredentials(server: RunningServer): Promise<Person> {
  const person = await signUp(server.origin, { name: longName });
  await insertPasskey(server, person.id, longName.slice(0, 100));
  const { access_token: token } = await tokensFor(server.origin, person, ['api_keys.manage', 'users.read']);
  await createApiKey(server, token, 'W'.repeat(100));
  const { id } = await createApiKey(server, token, longName.slice(0, 100));
  await server.db.em.fork().execute('update api_keys set revoked_at = now() where id = ?', [id]);
  return person;
}

type Credentials = { readonly email: string; readonly password: string };

/** As far as the page after the password. */
export async function signInWith({ origin }: Pick<RunningServer, 'origin'>, page: Page, { email, password }: Credentials): Promise<void> {
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
}

async function signInAs(server: RunningServer, page: Page, person: Credentials): Promise<void> {
  await signInWith(server, page, person);
  await page.waitForURL('**/account');
}

export async function setUpApp(server: RunningServer, page: Page, person: Credentials, scripted: boolean): Promise<{ secret: string }> {
  await signInAs(server, page, person);
  await page.goto(`${server.origin}/account/authenticator-app`);
  const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
  await page.getByLabel('The code that the app shows now').fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate());
  if (!scripted) await page.keyboard.press('Enter'); // the script sends it by itself
  await page.getByRole('heading', { name: 'Keep these codes' }).waitFor();
  return { secret };
}
