import { describe, expect, test } from 'vitest';
import { neverRejectingAttemptLimiter } from '../../../server/oauth/brute-force/attempt-limiter.ts';
import { useServer } from '../../support/server/use-server.ts';
import { hasActiveSession } from '../../support/oauth/account-pages.ts';
import { createCsrfVictim } from '../../support/oauth/csrf-forms.ts';
import { startDeviceAuthorization, submitUserCode } from '../../support/oauth/device-flow.ts';
import { buildFormRequest, type HtmlPage } from '../../support/browser/browser.ts';
import { expectHarmlessResponse, countCheckedResponses, hostileParameters } from '../../support/network/hostile-inputs.ts';
import {
  buildAuthorizationRequest,
  authorizationPath,
  basicAuthorization,
  cliClient,
  createConfidentialClient,
  signUp,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { hostileInputsForDatabase as hostileInputs, scaleRequestCount } from '../../support/services/hostile-inputs-for-database.ts';

const server = useServer({ limits: neverRejectingAttemptLimiter });

describe.each([...hostileParameters, 'login_hint', 'id_token_hint', 'claims', 'resource', 'code_challenge', 'response_mode', 'ui_locales'])(
  'the authorization endpoint with a hostile %s',
  (name) => {
    test('never returns a server error', async () => {
      const { browser } = await signUp(server.origin);
      for (const value of hostileInputs) {
        const path = authorizationPath(buildAuthorizationRequest({ [name]: value }).query);
        await expectHarmlessResponse(`${name}=${JSON.stringify(value)}`, await browser.request(path));
        await expectHarmlessResponse(`${name} twice`, await browser.request(`${path}&${name}=again`));
        await expectHarmlessResponse(`${name} as a list`, await browser.request(`${path}&${name}[]=again&${name}[x]=y`));
      }
      expect(server.warnings).toEqual([]);
    });
  },
);

test.each(['token', 'revocation', 'introspection'])(
  'the %s endpoint never returns a server error for hostile input',
  { timeout: 90_000 },
  async (endpoint) => {
    const client = await createConfidentialClient(server.db, ['orders.manage']);
    const credentials = basicAuthorization(client.clientId, client.secret);
    const names = [
      'grant_type',
      'code',
      'code_verifier',
      'redirect_uri',
      'refresh_token',
      'scope',
      'resource',
      'token',
      'token_type_hint',
      'client_id',
      'client_secret',
    ];
    for (const grant of ['authorization_code', 'refresh_token', 'client_credentials']) {
      for (const name of names) {
        for (const value of hostileInputs) {
          const form = {
            grant_type: grant,
            client_id: cliClient.clientId,
            code: 'x',
            redirect_uri: 'http://127.0.0.1/callback',
            code_verifier: 'x'.repeat(43),
            refresh_token: 'x',
            token: 'x',
            [name]: value,
          };
          const url = `${server.origin}/oauth/${endpoint}`;
          const description = `${endpoint} ${grant} ${name}=${JSON.stringify(value)}`;
          await expectHarmlessResponse(description, await fetch(url, { method: 'POST', body: new URLSearchParams(form) }));
          const { client_id: _clientId, ...rest } = form;
          await expectHarmlessResponse(
            description,
            await fetch(url, { method: 'POST', body: new URLSearchParams({ ...rest, [name]: value }), headers: credentials }),
          );
        }
      }
    }
    expect(server.warnings).toEqual([]);
  },
);

test('the token endpoint never returns a server error for a hostile Authorization header', async () => {
  const basicHeader = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  for (const authorization of [
    'Basic',
    'Basic !',
    'Bearer x',
    basicHeader(''),
    basicHeader(':'),
    basicHeader('a\0b:c'),
    basicHeader('%:%'),
    basicHeader('mandate-cli:'),
    basicHeader(`${'x'.repeat(5000)}:y`),
  ]) {
    const response = await fetch(`${server.origin}/oauth/token`, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    await expectHarmlessResponse(authorization, response);
    expect(response.status).toBeGreaterThanOrEqual(400);
  }
});

describe.each([
  '/sign-in',
  '/sign-up',
  '/password-reset',
  '/account/password',
  '/account/email',
  '/account/authenticator-app',
  '/account/sessions',
])('the form of %s with hostile input', (path) => {
  test('never returns a server error', async () => {
    const { browser } = await signUp(server.origin);
    const page: HtmlPage = await browser.open(path);
    for (const name of ['csrf', 'name', 'email', 'password', 'next', 'sealed', 'code', 'session', 'everywhere']) {
      for (const value of hostileInputs) {
        const form = { name: 'Ann', email: `ann@example.com`, password: 'short', [name]: value };
        await expectHarmlessResponse(`${path} ${name}=${JSON.stringify(value)}`, await browser.request(path, buildFormRequest(page, form)));
      }
      await expectHarmlessResponse(`${path} ${name} twice`, await browser.request(path, buildFormRequest(page, { [name]: ['a', 'b'] })));
    }
    await expectHarmlessResponse('too long', await browser.request(path, buildFormRequest(page, { name: 'x'.repeat(40_000) })));
    await expectHarmlessResponse(
      'JSON',
      await browser.request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }),
    );
    await expectHarmlessResponse(
      'charset',
      await browser.request(path, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=x' },
        body: 'a=b',
      }),
    );
    expect(server.warnings).toEqual([]);
  });
});

test.each([
  '/sign-in/second-factor',
  '/sign-in/passkey',
  '/sign-up/confirm',
  '/password-reset/confirm',
  '/account/email/confirm',
  '/account/apps',
  '/account/passkeys',
  '/account/passkeys/remove',
  '/account/recovery-codes',
  '/account/authenticator-app/remove',
  '/account/close',
  '/sign-out',
])('%s never returns a server error for hostile input', { timeout: 60_000 }, async (path) => {
  let user: TestUser | undefined;
  for (const value of hostileInputs) {
    // some requests close the account or end the session
    if (user === undefined || !(await hasActiveSession(user.browser))) user = await signUp(server.origin);
    const { browser } = user;
    const csrf = /name="csrf" value="([^"]*)"/.exec((await browser.open('/sign-in')).text)?.[1] ?? '';
    for (const name of ['proof', 'code', 'passkey', 'name', 'password', 'app', 'id', 'next', 'csrf', 'unknown']) {
      const form = new URLSearchParams({ csrf, [name]: value });
      const url = `${path}?token=${encodeURIComponent(value)}`;
      await expectHarmlessResponse(`${path} ${name}=${JSON.stringify(value)}`, await browser.request(url, { method: 'POST', body: form }));
    }
    await expectHarmlessResponse(`${path} twice`, await browser.request(`${path}?token=a&token=b&next=a&next=b`));
  }
  expect(server.warnings).toEqual([]);
});

test.each(['/sign-in/second-factor', '/sign-in/e-mail-code'])(
  '%s never returns a server error for a hostile code after a correct password',
  { timeout: 60_000 },
  async (path) => {
    const { browser, completeFields } = await createCsrfVictim(server);
    const fields = await completeFields(path);
    const submit = (code: string): Promise<Response> =>
      browser.request(path, { method: 'POST', body: new URLSearchParams({ ...fields, code }) });
    expect(await (await submit('123456')).text()).toContain('name="proof"'); // asks for the code again
    for (const value of hostileInputs) await expectHarmlessResponse(`${path} code=${JSON.stringify(value)}`, await submit(value));
    expect(server.warnings).toEqual([]);
  },
);

test('the consent page never returns a server error for hostile input', { timeout: 60_000 }, async () => {
  const { browser } = await signUp(server.origin);
  for (const name of ['csrf', 'decision', 'scope', 'unknown']) {
    for (const value of hostileInputs) {
      const page = await browser.open(authorizationPath(buildAuthorizationRequest({ scope: 'openid users.read orders.read' }).query));
      const description = `consent ${name}=${JSON.stringify(value)}`;
      await expectHarmlessResponse(
        description,
        await browser.request(page.url.href, buildFormRequest(page, { decision: 'x', [name]: value })),
      );
      await expectHarmlessResponse(description, await browser.request(page.url.href, buildFormRequest(page, { [name]: [value, 'allow'] })));
      await expectHarmlessResponse(
        description,
        await browser.request(`${page.url.href}?${new URLSearchParams({ [name]: value }).toString()}`),
      );
    }
  }
  expect(server.warnings).toEqual([]);
});

test('the device page never returns a server error for hostile input', { timeout: 60_000 }, async () => {
  const device = await startDeviceAuthorization(server.origin);
  const person = await signUp(server.origin);
  for (const name of ['xsrf', 'user_code', 'confirm', 'abort']) {
    for (const value of hostileInputs) {
      const page = await submitUserCode(person, 'BBBB-BBBB');
      const csrfToken = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
      const body = new URLSearchParams({ xsrf: csrfToken, user_code: 'BBBB-BBBC', [name]: value });
      await expectHarmlessResponse(
        `${name}=${value.slice(0, 20)}`,
        await person.browser.request('/oauth/device', { method: 'POST', body }),
      );
      await expectHarmlessResponse(
        `?${name}`,
        await person.browser.request(`/oauth/device?${new URLSearchParams({ [name]: value }).toString()}`),
      );
    }
  }
  for (const path of [
    '/oauth/device/x',
    '/oauth/device/%00',
    '/oauth/device/%',
    `/oauth/device?user_code=${device.user_code}&user_code=x`,
  ]) {
    await expectHarmlessResponse(path, await person.browser.request(path));
  }
  expect(server.warnings).toEqual([]);
});

test.each([
  '/sign-in/%',
  '/consent/%00',
  '/sign-in/a%2fb',
  '/consent/x?uid=y',
  '/oauth/authorize/x',
  '/oauth/%',
  '/oauth/authorize/%00',
  '/oauth/logout?id_token_hint=x.y.z',
  '/oauth/logout/success?client_id=%00',
])('the path %s never causes a server error', async (path) => {
  await expectHarmlessResponse(path, await fetch(server.origin + path, { redirect: 'manual' }));
  await expectHarmlessResponse(path, await fetch(server.origin + path, { method: 'POST', redirect: 'manual' }));
  expect(server.warnings).toEqual([]);
});

test('the tests above sent more than 4,000 requests, or proportionally fewer on the embedded database', () =>
  expect(countCheckedResponses()).toBeGreaterThan(scaleRequestCount(4000)));
