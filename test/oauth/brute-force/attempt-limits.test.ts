import { describe, expect, test } from 'vitest';
import { neverRejectingAttemptLimiter } from '../../../server/oauth/brute-force/attempt-limiter.ts';
import { rateLimitNetworkFromAddress } from '../../../server/http/request/rate-limit-network-from-address.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { sendTokenRequest, basicAuthorization, createConfidentialClient, signUp } from '../../support/oauth/oauth-flow.ts';
import { useServer, type RunningServer } from '../../support/server/use-server.ts';

const server = useServer();

/** Submits wrong passwords sequentially and returns the response statuses. */
async function submitWrongPasswords(at: RunningServer, email: string, times: number, address?: string): Promise<number[]> {
  const browser = new HttpBrowser(at.origin, address);
  const page = await browser.open('/sign-in');
  const statuses: number[] = [];
  for (let time = 0; time < times; time += 1) {
    statuses.push((await browser.submit(page, { email, password: `wrong password ${time}` })).response.status);
  }
  return statuses;
}

/** Resets the counts of attempts, because several tests send requests from the same network. */
const deleteAttempts = () => server.db.em.fork().execute('delete from attempts');

const tenThenRejected = [...Array.from({ length: 10 }, () => 400), 429, 429];

describe('ten wrong passwords (94)', () => {
  test.each([
    ['a known account', async () => (await signUp(server.origin)).email],
    ['an unknown account', async () => `nobody.${crypto.randomUUID()}@example.com`],
  ])('for %s: the eleventh from the same network is rejected', async (_kind, createEmail) => {
    const email = await createEmail();
    const address = '192.0.2.77';
    await deleteAttempts();
    expect(await submitWrongPasswords(server, email, 12, address)).toEqual(tenThenRejected);
    const sameNetwork = new HttpBrowser(server.origin, address);
    const refused = await sameNetwork.submit(await sameNetwork.open('/sign-in'), { email: email.toUpperCase(), password: 'wrong' });
    expect(refused.response.status).toBe(429);
    expect(Number(refused.response.headers.get('retry-after'))).toBeGreaterThan(60);
    expect(Number(refused.response.headers.get('retry-after'))).toBeLessThanOrEqual(15 * 60);
    expect(refused.text).toContain('Too many attempts');
    expect(await submitWrongPasswords(server, email, 1)).toEqual([400]);
  });

  test('make even the correct password fail from the same network, so that guessing cannot reveal it', async () => {
    const anna = await signUp(server.origin);
    await submitWrongPasswords(server, anna.email, 10, '192.0.2.78');
    const attacker = new HttpBrowser(server.origin, '192.0.2.78');
    const refused = await attacker.submit(await attacker.open('/sign-in'), { email: anna.email, password: anna.password });
    expect(refused.response.status).toBe(429);
  });

  test('do not include correct passwords', async () => {
    const anna = await signUp(server.origin);
    const address = '192.0.2.79';
    expect(await submitWrongPasswords(server, anna.email, 8, address)).toEqual(Array.from({ length: 8 }, () => 400));
    for (let time = 0; time < 5; time += 1) {
      const browser = new HttpBrowser(server.origin, address);
      const account = await browser.submit(await browser.open('/sign-in'), { email: anna.email, password: anna.password });
      expect(account.url.pathname).toBe('/account');
    }
    expect(await submitWrongPasswords(server, anna.email, 3, address)).toEqual([400, 400, 429]);
  });

  test('are also the limit for concurrent requests', async () => {
    const { email } = await signUp(server.origin);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const browser = new HttpBrowser(server.origin, '192.0.2.80');
        return (await browser.submit(await browser.open('/sign-in'), { email, password: 'wrong' })).response.status;
      }),
    );
    expect(statuses.filter((status) => status === 400)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });

  describe('without limits', () => {
    const unlimited = useServer({ limits: neverRejectingAttemptLimiter });

    test('are never rejected, so the limits cause the rejections above', async () => {
      expect(await submitWrongPasswords(unlimited, 'somebody@example.com', 12)).not.toEqual(tenThenRejected);
    });
  });
});

test('a network (or an IPv6 /64) may attempt thirty wrong passwords for different accounts', async () => {
  const statuses: number[] = [];
  for (let at = 0; at < 32; at += 1) {
    const [status = 0] = await submitWrongPasswords(server, `many.${at}@example.com`, 1, `2001:db8:7:7::${at.toString(16)}`);
    statuses.push(status);
  }
  expect(statuses.filter((status) => status === 400)).toHaveLength(30);
  expect(statuses.slice(-2)).toEqual([429, 429]);
  expect(await submitWrongPasswords(server, 'many.other@example.com', 1, '2001:db8:7:8::1')).toEqual([400]);
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, 'unknown'],
])('%s belongs to the network %s', (address, network) => expect(rateLimitNetworkFromAddress(address)).toBe(network));

test('audit events contain the client address that a trusted proxy reports', async () => {
  await submitWrongPasswords(server, 'audited@example.com', 1, '203.0.113.9');
  const [event] = await server.db.em
    .fork()
    .execute<{ ip: string }[]>(`select ip from audit_events where outcome = 'refused' order by id desc limit 1`);
  expect(event?.ip).toBe('203.0.113.9');
});

describe('ten wrong client secrets (94)', () => {
  const requestTokens = (clientId: string, secret: string, address: string) =>
    sendTokenRequest(
      server.origin,
      { grant_type: 'client_credentials' },
      { ...basicAuthorization(clientId, secret), 'x-forwarded-for': address },
    );

  test.each(['known', 'unknown'])('for a %s application: the eleventh from the same network is rejected', async (kind) => {
    const client = await createConfidentialClient(server.db, ['orders.manage']);
    const clientId = kind === 'known' ? client.clientId : 'nobody-knows';
    const statuses: number[] = [];
    for (let time = 0; time < 12; time += 1) statuses.push((await requestTokens(clientId, 'wrong', '198.51.100.1')).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    const refused = await requestTokens(clientId, client.secret, '198.51.100.1');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: 'invalid_client' });
  });

  test('do not affect other networks', async () => {
    const client = await createConfidentialClient(server.db, ['orders.manage']);
    for (let time = 0; time < 11; time += 1) await requestTokens(client.clientId, 'wrong', '198.51.100.2');
    expect((await requestTokens(client.clientId, client.secret, '198.51.100.3')).status).toBe(200);
  });

  test('also count when sent in the body', async () => {
    const client = await createConfidentialClient(server.db, ['orders.manage']);
    const form = { grant_type: 'client_credentials', client_id: client.clientId, client_secret: 'wrong' };
    const statuses: number[] = [];
    for (let time = 0; time < 11; time += 1) {
      statuses.push((await sendTokenRequest(server.origin, form, { 'x-forwarded-for': '198.51.100.4' })).status);
    }
    expect(statuses.at(-1)).toBe(429);
  });
});
