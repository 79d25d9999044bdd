import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StatelessPasskeyChallenges } from '../../../server/oauth/second-factors/passkeys.ts';
import { hasChromium, launchChromium } from '../../support/browser/chromium.ts';
import { readMailLink } from '../../support/services/mailbox.ts';
import { buildAuthorizationRequest, authorizationPath, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

test('a challenge is valid for an hour, and only with the key that issued it', () => {
  const [challenges, otherChallenges] = [
    new StatelessPasskeyChallenges(Buffer.alloc(32, 1)),
    new StatelessPasskeyChallenges(Buffer.alloc(32, 2)),
  ];
  const now = new Date();
  const challenge = challenges.issue(now);
  expect(challenges.isValid(challenge, now)).toBe(true);
  expect(challenges.isValid(challenge, new Date(now.getTime() + 61 * 60_000))).toBe(false);
  expect(challenges.isValid(otherChallenges.issue(now), now)).toBe(false);
  for (const wrong of ['', 'x', challenge.slice(1), `${challenge}AAAA`]) expect(challenges.isValid(wrong, now)).toBe(false);
});

describe.skipIf(!hasChromium)('passkeys in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  let devices = 0;
  type Device = { readonly page: Page; readonly cdp: CDPSession; readonly authenticatorId: string };

  /** Opens a page with a virtual authenticator that verifies users. Without `conditionalMediation`, passkeys are offered only on click. */
  async function useDevice(use: (device: Device) => Promise<void>, conditionalMediation = false): Promise<void> {
    const context = await browser.newContext({ extraHTTPHeaders: { 'x-forwarded-for': `10.0.0.${(devices += 1)}` } });
    try {
      const page = await context.newPage();
      if (!conditionalMediation) await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
      const cdp = await context.newCDPSession(page);
      await cdp.send('WebAuthn.enable');
      const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      await use({ page, cdp, authenticatorId });
    } finally {
      await context.close();
    }
  }

  async function signInByPassword(page: Page, { email, password }: Pick<TestUser, 'email' | 'password'>): Promise<void> {
    await page.goto(`${server.origin}/sign-in`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/account');
  }

  async function addPasskey(device: Device, person: TestUser): Promise<void> {
    const { page } = device;
    await signInByPassword(page, person);
    await page.goto(`${server.origin}/account/security`);
    await page.getByLabel('Passkey name').fill('Telephone');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('Telephone', { exact: true }).waitFor();
    await page.context().clearCookies();
  }

  async function signInByPasskey(device: Device): Promise<void> {
    const { page } = device;
    await page.goto(`${server.origin}/sign-in`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  }

  test('a user adds a passkey, signs in with it, and removes it', async () => {
    const anna = await signUp(server.origin);
    await useDevice(async (device) => {
      const { page } = device;
      await addPasskey(device, anna);
      await signInByPasskey(device);
      await page.waitForURL('**/account');
      expect(await page.textContent('main')).toContain(anna.email);
      // the `amr` and `acr` claims of ID tokens come from this session; the other session is from the sign-up
      const [{ payload = '' } = {}] = await server.db.em
        .fork()
        .execute<{ payload?: string }[]>(
          `select payload from oauth_records where model = 'Session' and account_id = ? order by expires_at desc limit 1`,
          [String(anna.id)],
        );
      expect(JSON.parse(payload)).toMatchObject({ amr: ['pop', 'user', 'mfa'], acr: 'urn:mandate:two-factors' });
      await page.goto(`${server.origin}/account/security`);
      await page.getByRole('button', { name: 'Remove Telephone' }).click();
      await page.getByText('You have no passkeys yet').waitFor();
      await page.context().clearCookies();
      await signInByPasskey(device);
      await page.getByText('That passkey was not accepted').first().waitFor();
    });
  });

  test.each([
    ['keeps the passkey can sign in with it', true],
    ['does not keep the passkey cannot sign in with it', false],
  ])('after a password reset, a user who %s', async (_case, isKept) => {
    const anna = await signUp(server.origin);
    await useDevice(async (device) => {
      const { page } = device;
      await addPasskey(device, anna);
      await page.goto(`${server.origin}/password-reset`);
      await page.getByLabel('E-mail address').fill(anna.email);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
      await page.goto(await readMailLink(server.origin, anna.email));
      await page.getByLabel('New password', { exact: true }).fill('staple battery horse correct');
      if (isKept) await page.getByLabel('Keep: Passkey “Telephone”').check();
      await page.getByRole('button', { name: 'Save password' }).click();
      await page.getByRole('heading', { name: isKept ? 'Kept' : 'Removed' }).waitFor();
      await signInByPasskey(device);
      await (isKept ? page.waitForURL('**/account') : page.getByText('That passkey was not accepted').first().waitFor());
      expect(new URL(page.url()).pathname).toBe(isKept ? '/account' : '/sign-in/passkey');
    });
  });

  test('the browser offers a passkey in the e-mail field', async () => {
    const anna = await signUp(server.origin);
    await useDevice(async (device) => {
      await addPasskey(device, anna);
      await device.page.goto(`${server.origin}/sign-in`);
      await device.page.waitForURL('**/account');
      expect(await device.page.textContent('main')).toContain(anna.email);
    }, true);
  });

  test('an authorization request continues after a sign-in with a passkey', async () => {
    const anna = await signUp(server.origin);
    await useDevice(async (device) => {
      const { page } = device;
      await addPasskey(device, anna);
      await page.goto(server.origin + authorizationPath(buildAuthorizationRequest().query));
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByRole('button', { name: 'Allow' }).waitFor();
      expect(new URL(page.url()).pathname).toMatch(/^\/consent\//);
    });
  });

  test('a passkey response is accepted once, and only for its challenge, origin and type', async () => {
    const anna = await signUp(server.origin);
    await useDevice(async (device) => {
      const { page } = device;
      await addPasskey(device, anna);
      const sent: string[] = [];
      page.on('request', (request) => request.url().endsWith('/sign-in/passkey') && sent.push(request.postData() ?? ''));
      await signInByPasskey(device);
      await page.waitForURL('**/account');
      const form = new URLSearchParams(sent[0]);
      const replay = (changed: Record<string, string>) =>
        page.request.post(`${server.origin}/sign-in/passkey`, { form: { ...Object.fromEntries(form), ...changed } });
      expect((await replay({})).status()).toBe(400);
      const credential = JSON.parse(form.get('passkey') ?? '');
      const clientData = JSON.parse(Buffer.from(credential.response.clientDataJSON, 'base64url').toString());
      for (const change of [{ challenge: 'AAAA' }, { origin: 'https://evil.example' }, { type: 'webauthn.create' }]) {
        const clientDataJSON = Buffer.from(JSON.stringify({ ...clientData, ...change })).toString('base64url');
        const passkey = JSON.stringify({ ...credential, response: { ...credential.response, clientDataJSON } });
        expect([change, (await replay({ passkey })).status()]).toEqual([change, 400]);
      }
      for (const passkey of ['', '{', '[]', '{}', 'null', '{"id":"\\u0000","response":{"clientDataJSON":"e30"}}', 'x'.repeat(9000)]) {
        expect([passkey.slice(0, 9), (await replay({ passkey })).status()]).toEqual([passkey.slice(0, 9), 400]);
      }
      expect(server.warnings).toEqual([]);
    });
  });

  test('a device without user verification cannot sign in', async () => {
    const anna = await signUp(server.origin);
    await useDevice(async (device) => {
      await addPasskey(device, anna);
      await device.cdp.send('WebAuthn.setUserVerified', { authenticatorId: device.authenticatorId, isUserVerified: false });
      await signInByPasskey(device);
      await device.page.waitForTimeout(500);
      expect(new URL(device.page.url()).pathname).toBe('/sign-in');
    });
  });

  test('the passkey of a suspended user is rejected', async () => {
    const anna = await signUp(server.origin);
    await useDevice(async (device) => {
      await addPasskey(device, anna);
      await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
      await signInByPasskey(device);
      await device.page.getByText('That passkey was not accepted').first().waitFor();
      await device.page.goto(`${server.origin}/account`);
      expect(new URL(device.page.url()).pathname).toBe('/sign-in');
    });
  });

  test('the sign-in page without JavaScript has no passkey button', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${server.origin}/sign-in`);
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
    await context.close();
  });
});
