import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { obtainLimitedTokens, obtainLimitedTokensOfApplication, orderDetailsParameter } from '../../support/oauth/limited-tokens.ts';
import {
  authorizationPath,
  basicAuthorization,
  buildAuthorizationRequest,
  cliClient,
  createWebApplication,
  sendRefreshRequest,
  sendTokenRequest,
  signUp,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

const limits = { currency: 'GBP', per_order: 5000, per_period: 20_000, period: 'month' };
const inDays = (days: number): string => new Date(Date.now() + days * 24 * 60 * 60_000).toISOString();
const inAYear = inDays(365);

/** Returns all rows that an authorization with limits writes. */
const readAuthorizations = (): Promise<{ entry: string }[]> =>
  server.db.em.fork().execute<{ entry: string }[]>(
    `select 'limits ' || t::text as entry from order_limits t
     union all select 'connection ' || t::text from connections t
     union all select 'grant ' || t::text from oauth_records t where model = 'Grant'
     order by entry`,
  );

/** Sends a request that must be rejected. Returns the result, and expects that no authorization was stored. */
async function expectNothingWritten<Result>(send: () => Promise<Result>): Promise<Result> {
  const before = await readAuthorizations();
  const result = await send();
  expect(await readAuthorizations()).toEqual(before);
  return result;
}

const push = async (form: Record<string, string>, headers: Record<string, string> = {}) => {
  const response = await fetch(`${server.origin}/oauth/par`, { method: 'POST', body: new URLSearchParams(form), headers });
  return z.object({ request_uri: z.string().default(''), error: z.string().optional() }).parse(await response.json());
};

const oauthErrorSchema = z.object({ error: z.string().optional(), error_description: z.string().optional() });

describe('a rejected request writes no limits, grant or connection', () => {
  const request = (details: string) => ({ scope: 'openid orders.write', authorization_details: details });
  const invalidDetails = [
    ['a negative amount', orderDetailsParameter({ limits: { ...limits, per_order: -1 } })],
    ['a fraction', orderDetailsParameter({ limits: { ...limits, per_order: 1.5 } })],
    ['an unknown currency', orderDetailsParameter({ limits: { ...limits, currency: 'XXY' } })],
    ['an end in the past', orderDetailsParameter({ limits, valid_until: '2026-01-01T00:00:00Z' })],
    ['an unknown type', '[{"type":"payment_initiation"}]'],
    ['no JSON', '['],
  ] as const;

  const senders: Readonly<Record<string, (details: string, anna: TestUser) => Promise<string | undefined | null>>> = {
    async 'the authorization endpoint'(details, { browser }) {
      const page = await browser.open(authorizationPath(buildAuthorizationRequest(request(details)).query));
      return page.externalRedirect?.searchParams.get('error');
    },
    'the endpoint for pushed requests': async (details) => (await push(buildAuthorizationRequest(request(details)).query)).error,
    async 'the device authorization endpoint'(details) {
      const body = new URLSearchParams({ client_id: cliClient.clientId, ...request(details) });
      const response = await fetch(`${server.origin}/oauth/device-authorization`, { method: 'POST', body });
      return oauthErrorSchema.parse(await response.json()).error;
    },
    async 'the token endpoint'(details, anna) {
      const { refresh_token: token = '' } = await obtainLimitedTokens(server.origin, anna, ['orders.write'], { limits });
      return expectNothingWritten(async () => {
        const response = await sendRefreshRequest(server.origin, token, { authorization_details: details });
        return oauthErrorSchema.parse(await response.json()).error;
      });
    },
  };

  describe.each(Object.keys(senders))('%s', (endpoint) => {
    test.each(invalidDetails)('%s', async (_name, details) => {
      const anna = await signUp(server.origin);
      const send = async () => senders[endpoint]?.(details, anna);
      const error = await (endpoint === 'the token endpoint' ? send() : expectNothingWritten(send));
      expect(error).toBe('invalid_authorization_details');
    });
  });

  test('this test detects a request that is accepted', async () => {
    const anna = await signUp(server.origin);
    const accepted = expectNothingWritten(() => obtainLimitedTokens(server.origin, anna, ['orders.write'], { limits }));
    await expect(accepted).rejects.toThrow('to deeply equal');
  });
});

describe('a refresh that widens the details is rejected and changes nothing', () => {
  test.each([
    ['valid_until', 'later', { valid_until: inAYear }, { valid_until: inDays(366) }],
    ['valid_until', 'absent', { valid_until: inAYear }, {}],
    ['approval', 'from always to above_limit', { approval: 'always' }, { approval: 'above_limit' }],
    ['approval', 'from always to never', { approval: 'always' }, { approval: 'never' }],
    ['approval', 'from never to above_limit', { approval: 'never' }, { approval: 'above_limit' }],
    ['approval', 'from never to always', { approval: 'never' }, { approval: 'always' }],
  ] as const)('%s: %s', async (field, _change, granted, requested) => {
    const anna = await signUp(server.origin);
    const tokens = await obtainLimitedTokens(server.origin, anna, ['orders.write'], { limits, ...granted });
    expect(tokens.authorization_details).toMatchObject([granted]);
    const refreshToken = tokens.refresh_token ?? '';
    const form = { authorization_details: orderDetailsParameter({ limits, ...requested }) };
    const rejected = await expectNothingWritten(() => sendRefreshRequest(server.origin, refreshToken, form));
    expect([rejected.status, await rejected.json()]).toMatchObject([
      400,
      { error: 'invalid_authorization_details', error_description: `${field} permits more than the user allowed` },
    ]);
    const refreshed = await sendRefreshRequest(server.origin, refreshToken);
    expect(await refreshed.json()).toMatchObject({ authorization_details: [granted] });
  });
});

describe('details of another client', () => {
  const createApplication = () => createWebApplication(server.db, ['orders.write']);

  test('cannot be used through its request_uri', async () => {
    const { browser } = await signUp(server.origin);
    const [owner, other] = [await createApplication(), await createApplication()];
    const { query } = buildAuthorizationRequest({
      client_id: owner.clientId,
      redirect_uri: owner.redirectUri,
      scope: 'openid orders.write',
      authorization_details: orderDetailsParameter({ limits }),
    });
    const { request_uri: requestUri } = await push(query, basicAuthorization(owner.clientId, owner.secret));
    const request = { client_id: other.clientId, request_uri: requestUri };
    const page = await expectNothingWritten(() => browser.open(authorizationPath(request)));
    expect([page.response.status, page.externalRedirect]).toEqual([400, undefined]);
    const withRedirectUri = { ...request, redirect_uri: other.redirectUri };
    const { externalRedirect } = await expectNothingWritten(() => browser.open(authorizationPath(withRedirectUri)));
    expect(Object.fromEntries(externalRedirect?.searchParams ?? [])).toMatchObject({ error: 'invalid_request_object' });
    expect(externalRedirect?.searchParams.has('code')).toBe(false);
  });

  test('cannot be obtained or changed with its refresh token', async () => {
    const anna = await signUp(server.origin);
    const [owner, other] = [await createApplication(), await createApplication()];
    const tokens = await obtainLimitedTokensOfApplication(server.origin, anna, owner, ['orders.write'], { limits });
    const refresh = (client: typeof owner, form: Record<string, string> = {}): Promise<Response> =>
      sendTokenRequest(
        server.origin,
        { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '', ...form },
        basicAuthorization(client.clientId, client.secret),
      );
    const narrower = orderDetailsParameter({ limits: { ...limits, per_order: 1 } });
    for (const form of [{}, { authorization_details: narrower }]) {
      const rejected = await expectNothingWritten(() => refresh(other, form));
      expect([rejected.status, await rejected.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    }
    expect(await (await refresh(owner)).json()).toMatchObject({ authorization_details: [{ limits }] });
  });
});
