import { describe, expect, test } from 'vitest';
import { Application } from '../../../server/applications/application.entity.ts';
import { consoleClientId, consoleScopes, ensureConsoleClient } from '../../../server/applications/ensure-console-client.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  sendTokenRequest,
  signUp,
  signUpWithRole,
  tokenResponseSchema,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

describe('the application of the console', () => {
  const server = useServer();

  const requestCode = async (
    { browser }: Pick<TestUser, 'browser'>,
    redirectUri = `${server.origin}/console`,
    more: readonly string[] = [],
  ) => {
    const scope = ['openid', 'offline_access', ...consoleScopes, ...more].join(' ');
    const { query, verifier } = buildAuthorizationRequest({ client_id: consoleClientId, redirect_uri: redirectUri, scope });
    return { page: await browser.open(authorizationPath(query)), verifier, redirectUri };
  };

  /** Signs in to the console without a consent page, and returns the granted API scopes. */
  const obtainScopes = async (user: Pick<TestUser, 'browser'>): Promise<string[]> => {
    const { page, verifier, redirectUri } = await requestCode(user);
    const form = { grant_type: 'authorization_code', client_id: consoleClientId, redirect_uri: redirectUri, code_verifier: verifier };
    const response = await sendTokenRequest(server.origin, { ...form, code: page.url.searchParams.get('code') ?? '' });
    const { scope = '' } = tokenResponseSchema.parse(await response.json());
    return scope.split(' ').filter((name) => name.includes('.'));
  };

  test("gets the scopes that the user's role can grant, without asking for consent", async () => {
    const [customer, staff, admin] = await Promise.all([
      obtainScopes(await signUp(server.origin)),
      obtainScopes(await signUpWithRole(server.db, server.origin, 'staff')),
      obtainScopes(await signUpWithRole(server.db, server.origin, 'admin')),
    ]);
    expect(customer).toContain('users.read');
    expect(customer).not.toContain('orders.manage');
    expect(staff).toContain('orders.manage');
    expect(staff).not.toContain('applications.manage');
    expect(admin.toSorted()).toEqual([...consoleScopes].toSorted());
  });

  test('needs consent to change roles', async () => {
    const { page } = await requestCode(await signUpWithRole(server.db, server.origin, 'admin'), undefined, ['users.administer']);
    expect(page.url.pathname).toMatch(/^\/consent\//);
  });

  test('cannot be impersonated by a program that listens on another port on this device', async () => {
    const staff = await signUpWithRole(server.db, server.origin, 'staff');
    const other = new URL(`${server.origin}/console`);
    for (const host of ['127.0.0.1', 'localhost']) {
      other.host = `${host}:49152`;
      const { page } = await requestCode(staff, other.href);
      expect(page.externalRedirect?.searchParams.has('code') ?? false).toBe(false);
    }
  });

  test('is recreated at each start, without a pre-approval that an administrator has withdrawn', async () => {
    const em = server.db.em.fork();
    await em.nativeUpdate(Application, { clientId: consoleClientId }, { preapprovedScopes: [], name: 'Changed' });
    await ensureConsoleClient(server.db.em, server.origin);
    const application = await em.fork().findOneOrFail(Application, { clientId: consoleClientId });
    expect(application).toMatchObject({ name: 'Console', preapprovedScopes: [], redirectUris: [`${server.origin}/console`] });
    const { page } = await requestCode(await signUpWithRole(server.db, server.origin, 'staff'));
    expect(page.url.pathname).toMatch(/^\/consent\//);
  });
});
