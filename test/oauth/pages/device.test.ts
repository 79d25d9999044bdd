import { expect, describe, test } from 'vitest';
import { hashSecretRecordId } from '../../../server/oauth/storage/oauth-record-mapping.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import {
  pollDeviceToken,
  startDeviceAuthorization,
  approveDevice,
  submitUserCode,
  expirePollIntervalSql,
} from '../../support/oauth/device-flow.ts';
import { sendRefreshRequest, readOAuthError, signUp, tokenResponseSchema } from '../../support/oauth/oauth-flow.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { startMandateServer } from '../../support/server/start-mandate.ts';

const server = useServer();
const waitForPollInterval = () => server.db.em.fork().execute(expirePollIntervalSql);
const pollForTokens = async (deviceCode: string) => {
  await waitForPollInterval();
  return pollDeviceToken(server.origin, deviceCode);
};

describe('a device', () => {
  test('gets authorization_pending and, after the user gives consent, its tokens once (86)', async () => {
    const anna = await signUp(server.origin);
    const device = await startDeviceAuthorization(server.origin);
    expect(await readOAuthError(await pollForTokens(device.device_code))).toBe('400 authorization_pending');
    const done = await approveDevice(anna, device.user_code);
    expect([done.response.status, done.text]).toEqual([200, expect.stringContaining('The device is connected')]);
    const tokens = tokenResponseSchema.parse(await (await pollForTokens(device.device_code)).json());
    expect(await fetchApiStatus(server, tokens.access_token)).toBe(200);
    expect(await readOAuthError(await pollForTokens(device.device_code))).toBe('400 invalid_grant');
    expect(await fetchApiStatus(server, tokens.access_token)).toBe(401); // the device code was used twice, so its grant is revoked
    expect(await readOAuthError(await sendRefreshRequest(server.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  });

  test('gets access_denied when the user refuses on either page (86)', async () => {
    const { browser } = await signUp(server.origin);
    const first = await startDeviceAuthorization(server.origin);
    const refused = await browser.submit(await submitUserCode({ browser }, first.user_code), { abort: 'yes' });
    expect(refused.text).toContain('The device was not connected');
    expect(await readOAuthError(await pollForTokens(first.device_code))).toBe('400 access_denied');

    const second = await startDeviceAuthorization(server.origin);
    const consent = await browser.submit(await submitUserCode({ browser }, second.user_code), {});
    expect((await browser.submit(consent, { decision: 'cancel' })).text).toContain('The device was not connected');
    expect(await readOAuthError(await pollForTokens(second.device_code))).toBe('400 access_denied');
  });

  test('gets expired_token for an expired code and invalid_grant for an unknown code (86)', async () => {
    const { browser } = await signUp(server.origin);
    const device = await startDeviceAuthorization(server.origin);
    await server.db.em.fork().execute(
      `update oauth_records set payload = jsonb_set(payload::jsonb, '{exp}', to_jsonb(extract(epoch from now())::bigint - 1))::text
       where model = 'DeviceCode' and user_code = ?`,
      [hashSecretRecordId(device.user_code.replace('-', ''))],
    );
    expect(await readOAuthError(await pollForTokens(device.device_code))).toBe('400 expired_token');
    expect((await submitUserCode({ browser }, device.user_code)).text).toContain('This code has expired');
    expect(await readOAuthError(await pollForTokens('nobody-knows'))).toBe('400 invalid_grant');
  });

  test('that polls too often gets slow_down and a longer interval each time (87)', async () => {
    const device = await startDeviceAuthorization(server.origin);
    expect(device.interval).toBe(5);
    const refusals = [];
    for (let count = 0; count < 3; count += 1)
      refusals.push(await readOAuthError(await pollDeviceToken(server.origin, device.device_code)));
    expect(refusals).toEqual(['400 authorization_pending', '400 slow_down', '400 slow_down']);
    const [row] = await server.db.em
      .fork()
      .execute<{ wait: number }[]>(`select poll_interval as wait from oauth_records where user_code = ?`, [
        hashSecretRecordId(device.user_code.replace('-', '')),
      ]);
    expect(row?.wait).toBe(15);
    expect(await readOAuthError(await pollForTokens(device.device_code))).toBe('400 authorization_pending');
  });

  test('of another application gets no tokens for the code', async () => {
    const anna = await signUp(server.origin);
    const device = await startDeviceAuthorization(server.origin);
    await approveDevice(anna, device.user_code);
    await waitForPollInterval();
    expect((await pollDeviceToken(server.origin, device.device_code, { client_id: 'somebody-else' })).status).toBe(401);
    expect((await pollForTokens(device.device_code)).status).toBe(200);
  });
});

describe('the device page', () => {
  test('shows application and code and asks for confirmation, even with verification_uri_complete (89)', async () => {
    const anna = await signUp(server.origin);
    const device = await startDeviceAuthorization(server.origin);
    const confirm = await anna.browser.open(device.verification_uri_complete);
    expect(confirm.text).not.toMatch(/<script(?! type="module" src=)/);
    expect(confirm.text).toContain('Mandate command line');
    expect(confirm.text).toContain(device.user_code);
    expect(confirm.response.headers.get('content-security-policy')).toContain(`frame-ancestors 'none'`);
    expect(confirm.text).toContain('If someone sent you this code');
    expect(await readOAuthError(await pollForTokens(device.device_code))).toBe('400 authorization_pending');
    const consent = await anna.browser.submit(confirm, {});
    expect((await anna.browser.submit(consent, { decision: 'allow' })).text).toContain('The device is connected');
    expect((await pollForTokens(device.device_code)).status).toBe(200);
  });

  test('shows a sample code in the empty field', async () => {
    const { browser } = await signUp(server.origin);
    expect((await browser.open('/oauth/device')).text).toMatch(/<input\s+id="user_code"[^>]*value=""[^>]*placeholder="ABCD-EFGH"/);
  });

  test('explains for a link with an invalid code why the code is invalid, and lets the user enter another one', async () => {
    const anna = await signUp(server.origin);
    const device = await startDeviceAuthorization(server.origin);
    await approveDevice(anna, device.user_code);
    const used = await anna.browser.open(device.verification_uri_complete);
    expect(used.text).toContain('This code has already been used');
    const unknown = await anna.browser.open('/oauth/device?user_code=BBBB-BBBB');
    expect(unknown.text).toContain('No device is waiting for this code');
    const other = await startDeviceAuthorization(server.origin);
    expect((await anna.browser.submit(unknown, { user_code: other.user_code })).text).toContain('The codes match');
  });

  test('accepts the code in lower case and without the hyphen', async () => {
    const anna = await signUp(server.origin);
    const device = await startDeviceAuthorization(server.origin);
    expect((await submitUserCode(anna, device.user_code.toLowerCase().replace('-', ' '))).text).toContain(device.user_code);
  });

  test('rejects the approval of a code that another user has claimed (89)', async () => {
    const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
    const device = await startDeviceAuthorization(server.origin);
    const [pageOfAnna, pageOfBen] = [await submitUserCode(anna, device.user_code), await submitUserCode(ben, device.user_code)];
    const consent = await anna.browser.submit(pageOfAnna, {});
    expect((await ben.browser.submit(pageOfBen, {})).text).toContain('already been used');
    expect((await submitUserCode(ben, device.user_code)).text).toContain('already been used');
    // another user cannot open the URL of Anna's consent page
    expect((await ben.browser.request(consent.url.href)).status).toBe(400);
    await anna.browser.submit(consent, { decision: 'allow' });
    const tokens = tokenResponseSchema.parse(await (await pollForTokens(device.device_code)).json());
    const me = await fetch(`${server.origin}/api/v1/users/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await me.json()).toMatchObject({ id: anna.id });
  });

  test('continues for only one of three users who confirm the same code concurrently (89)', async () => {
    const users = [await signUp(server.origin), await signUp(server.origin), await signUp(server.origin)];
    const device = await startDeviceAuthorization(server.origin);
    const pages = await Promise.all(users.map((person) => submitUserCode(person, device.user_code)));
    const resultPages = await Promise.all(users.map((person, at) => person.browser.submit(pages[at] ?? failWithoutPage(), {})));
    expect(resultPages.filter(({ url }) => url.pathname.startsWith('/consent/'))).toHaveLength(1);
    expect(resultPages.filter(({ text }) => text.includes('already been used'))).toHaveLength(2);
  });

  test('requires a sign-in in a browser without a session', async () => {
    const anna = await signUp(server.origin);
    const device = await startDeviceAuthorization(server.origin);
    const browser = new HttpBrowser(server.origin);
    const signIn = await browser.submit(await submitUserCode({ browser }, device.user_code), {});
    expect(signIn.url.pathname).toMatch(/^\/sign-in\//);
    const consent = await browser.submit(signIn, { email: anna.email, password: anna.password });
    expect(consent.url.pathname).toMatch(/^\/consent\//);
    expect((await browser.submit(consent, { decision: 'allow' })).text).toContain('The device is connected');
    expect((await pollForTokens(device.device_code)).status).toBe(200);
  });

  test('rejects a form with a wrong CSRF token', async () => {
    const { browser } = await signUp(server.origin);
    const device = await startDeviceAuthorization(server.origin);
    await browser.open('/oauth/device');
    const body = new URLSearchParams({ user_code: device.user_code, confirm: 'yes', xsrf: 'guessed' });
    expect((await browser.request('/oauth/device', { method: 'POST', body })).status).toBe(400);
    expect(await readOAuthError(await pollForTokens(device.device_code))).toBe('400 authorization_pending');
  });
});

describe('guessing of user codes', () => {
  test('is limited to ten wrong codes, after which even a correct code is rejected (88)', async () => {
    const { browser } = await signUp(server.origin);
    const device = await startDeviceAuthorization(server.origin);
    for (let count = 0; count < 9; count += 1) {
      const wrong = `BBBB-BBB${'BCDFGHJKL'.charAt(count)}`;
      expect((await submitUserCode({ browser }, wrong)).text).toContain('No device is waiting for this code');
    }
    // a correct code does not count as a failed attempt
    expect((await submitUserCode({ browser }, device.user_code)).text).toContain('The codes match');
    expect((await submitUserCode({ browser }, 'BBBB-BBBM')).response.status).toBe(200);
    for (const code of [device.user_code, 'BBBB-BBBN']) {
      // a browser with the same IP address but without cookies shares the limit
      const limited = await submitUserCode({ browser: new HttpBrowser(server.origin, browser.ipAddress) }, code);
      expect([limited.response.status, limited.text]).toEqual([429, expect.stringContaining('Too many wrong codes')]);
      expect(Number(limited.response.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(server.warnings).toEqual([]);
  });
});

test('codes in links count as guesses, except correct codes', async () => {
  const { browser } = await signUp(server.origin);
  const device = await startDeviceAuthorization(server.origin);
  for (let count = 0; count < 10; count += 1) {
    expect((await browser.open(device.verification_uri_complete)).text).toContain('The codes match');
    const wrong = await browser.open(`/oauth/device?user_code=BBBB-BBB${'BCDFGHJKLM'.charAt(count)}`);
    expect(wrong.text).toContain('No device is waiting for this code');
  }
  const limited = await browser.open(device.verification_uri_complete);
  expect([limited.response.status, limited.text]).toEqual([429, expect.stringContaining('Too many wrong codes')]);
});

test('the stored record ID of a device code is not accepted as a device code', async () => {
  const device = await startDeviceAuthorization(server.origin);
  const [row] = await server.db.em
    .fork()
    .execute<{ id: string }[]>('select id from oauth_records where user_code = ?', [hashSecretRecordId(device.user_code.replace('-', ''))]);
  expect(row?.id).toMatch(/^h\./);
  expect(await readOAuthError(await pollForTokens(row?.id ?? ''))).toBe('400 invalid_grant');
});

const failWithoutPage = (): never => {
  throw new Error('no page');
};

describe('without a session', () => {
  const cookies = { none: '', forged: '_session=abc; _session.sig=abc' };
  const requests = [
    ['POST', '/oauth/device'],
    ['GET', '/oauth/device/abc'],
    ['HEAD', '/oauth/device/abc'],
  ] as const;

  test.each(requests)('%s %s returns an HTML page with status 400 and logs no error', async (method, path) => {
    const lines: string[] = [];
    const mandate = await startMandateServer({ onLogLine: (line) => lines.push(line) });
    for (const accept of ['text/html', '*/*'])
      for (const cookie of Object.values(cookies))
        for (const body of method === 'POST' ? ['', 'user_code=ABCD-EFGH&xsrf=x', 'user_code=a&user_code=b'] : [undefined]) {
          const headers = { accept, cookie, ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }) };
          const response = await fetch(mandate.origin + path, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) });
          expect([response.status, response.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
          expect(await response.text()).toMatch(method === 'HEAD' ? /^$/ : /<h1/);
        }
    await mandate.close();
    expect(lines.filter((line) => line.includes('stack') || line.includes('"level":50'))).toEqual([]);
  });
});
