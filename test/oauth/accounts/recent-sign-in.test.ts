import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Principal } from '../../../server/http/request/principal-and-token-types.ts';
import { Problem } from '../../../server/http/problem-details/problem.ts';
import { translateProblem } from '../../../server/http/problem-details/translate-problem.ts';
import { bundledLanguages } from '../../../server/languages/languages.ts';
import { maxRecentSignInAgeSeconds, requireRecentSignIn } from '../../../server/http/request/recent-sign-in-and-second-factor-checks.ts';
import { backdateSessions } from '../../support/oauth/backdate-sessions.ts';
import type { HttpBrowser, HtmlPage } from '../../support/browser/browser.ts';
import {
  pollDeviceToken,
  startDeviceAuthorization,
  approveDevice,
  submitUserCode,
  expirePollIntervalSql,
} from '../../support/oauth/device-flow.ts';
import {
  buildAuthorizationRequest,
  authorizationPath,
  obtainClientToken,
  cliClient,
  createConfidentialClient,
  redeemCode,
  sendRefreshRequest,
  signUp,
  tokenResponseSchema,
  obtainTokens,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

const now = (): number => Math.floor(Date.now() / 1000);
const authTimeOf = (token: string): unknown => decodeJwt(token)['auth_time'];
const tokensFrom = async (response: Response) => tokenResponseSchema.parse(await response.json());
const introspect = async (token: string) => {
  const body = new URLSearchParams({ token, client_id: cliClient.clientId });
  return z.record(z.unknown()).parse(await (await fetch(`${server.origin}/oauth/introspection`, { method: 'POST', body })).json());
};

/** Creates a user with a single browser session that started twenty minutes ago. */
async function signUpTwentyMinutesAgo(): Promise<TestUser> {
  const person = await signUp(server.origin);
  await backdateSessions(server.db, person.id, 20);
  return person;
}

const signInAgain = (browser: HttpBrowser, page: HtmlPage, { email, password }: TestUser): Promise<HtmlPage> => {
  expect(page.url.pathname).toMatch(/^\/sign-in\//);
  return browser.submit(page, { email, password });
};

describe('auth_time in an access token', () => {
  test('is the time of the sign-in, and is the same in the ID token and the introspection response', async () => {
    const tokens = await obtainTokens(server.origin, await signUpTwentyMinutesAgo(), ['orders.read']);
    const authTime = authTimeOf(tokens.access_token);
    expect(authTime).toBe(authTimeOf(tokens.id_token ?? ''));
    expect(now() - Number(authTime)).toBeGreaterThanOrEqual(20 * 60);
    expect((await introspect(tokens.access_token))['auth_time']).toBe(authTime);
  });

  test('is not renewed by a refresh', async () => {
    const first = await obtainTokens(server.origin, await signUpTwentyMinutesAgo(), ['orders.read']);
    const second = await tokensFrom(await sendRefreshRequest(server.origin, first.refresh_token ?? ''));
    const third = await tokensFrom(await sendRefreshRequest(server.origin, second.refresh_token ?? ''));
    const times = [first, second, third].map(({ access_token: token }) => authTimeOf(token));
    expect(times).toEqual([times[0], times[0], times[0]]);
    expect(now() - Number(times[0])).toBeGreaterThanOrEqual(20 * 60);
  });

  test('is the sign-in time of the browser session for a device code', async () => {
    const person = await signUpTwentyMinutesAgo();
    const device = await startDeviceAuthorization(server.origin);
    await approveDevice(person, device.user_code);
    await server.db.em.fork().execute(expirePollIntervalSql);
    const tokens = await tokensFrom(await pollDeviceToken(server.origin, device.device_code));
    expect(now() - Number(authTimeOf(tokens.access_token))).toBeGreaterThanOrEqual(20 * 60);
  });

  test('is absent with client credentials', async () => {
    const client = await createConfidentialClient(server.db, ['orders.manage']);
    expect(decodeJwt(await obtainClientToken(server.origin, client, ['orders.manage']))).not.toHaveProperty('auth_time');
  });
});

describe('max_age requires a new sign-in if the last sign-in is older (RFC 9470 section 4)', () => {
  test('at the authorization endpoint', async () => {
    const person = await signUpTwentyMinutesAgo();
    const { query, verifier } = buildAuthorizationRequest({ max_age: String(maxRecentSignInAgeSeconds) });
    const consent = await signInAgain(person.browser, await person.browser.open(authorizationPath(query)), person);
    const { externalRedirect: leaves } = consent.externalRedirect ? consent : await person.browser.submit(consent, { decision: 'allow' });
    const code = leaves?.searchParams.get('code') ?? '';
    const { clientId, redirectUri } = cliClient;
    const tokens = await tokensFrom(await redeemCode(server.origin, { code, verifier, redirectUri, clientId }));
    expect(now() - Number(authTimeOf(tokens.access_token))).toBeLessThan(60);
  });

  test('at the device authorization endpoint', async () => {
    const person = await signUpTwentyMinutesAgo();
    const device = await startDeviceAuthorization(server.origin, 'openid users.read', { max_age: '60' });
    const page = await person.browser.submit(await submitUserCode(person, device.user_code), {});
    const consent = await signInAgain(person.browser, page, person);
    await person.browser.submit(consent, { decision: 'allow' });
    await server.db.em.fork().execute(expirePollIntervalSql);
    const tokens = await tokensFrom(await pollDeviceToken(server.origin, device.device_code));
    expect(now() - Number(authTimeOf(tokens.access_token))).toBeLessThan(60);
  });
});

describe('requireRecentSignIn', () => {
  const at = new Date('2026-11-22T12:00:00Z');
  const seconds = at.getTime() / 1000;
  const principal = (properties: Partial<Principal>): Principal => ({
    user: { id: 1, role: 'admin' },
    clientId: 'mandate-cli',
    scopes: new Set(),
    ...properties,
  });
  const inEnglish = (problem: Problem | undefined) =>
    problem && { code: problem.code, detail: translateProblem(problem, bundledLanguages.default).detail };
  const problemForPrincipal = (properties: Partial<Principal>): Problem | undefined => {
    try {
      requireRecentSignIn(principal(properties), at);
      return undefined;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  };

  test('accepts a sign-in during the last 15 minutes and rejects an older sign-in', () => {
    expect(problemForPrincipal({ authTime: seconds - 15 * 60 })).toBeUndefined();
    expect(inEnglish(problemForPrincipal({ authTime: seconds - 15 * 60 - 1 }))).toMatchObject({
      code: 'insufficient_user_authentication',
      detail: expect.stringContaining('mandate login --force'),
    });
  });

  test('rejects a credential without a sign-in', () => {
    expect(inEnglish(problemForPrincipal({}))).toMatchObject({
      code: 'insufficient_user_authentication',
      detail: expect.stringContaining('API keys'),
    });
  });

  test.each(['Bearer', 'DPoP'] as const)('returns a challenge with the scheme of the request: %s (RFC 9470 section 3)', (authScheme) => {
    expect(problemForPrincipal({ authScheme })?.headers['WWW-Authenticate']).toMatch(
      new RegExp(`^${authScheme} realm="api", error="insufficient_user_authentication", .*max_age="900"$`),
    );
  });
});
