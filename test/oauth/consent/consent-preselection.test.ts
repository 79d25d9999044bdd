import { scopeDefinitions, scopeNames, type Scope } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { getPermissionGroup, powerfulGroups } from '../../../server/oauth/pages/views/permission-groups.ts';
import type { HtmlPage } from '../../support/browser/browser.ts';
import { expirePollIntervalSql, pollDeviceToken, startDeviceAuthorization, submitUserCode } from '../../support/oauth/device-flow.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  createWebApplication,
  obtainAuthorizationCode,
  redeemCode,
  signUp,
  signUpWithRole,
  tokenResponseSchema,
  type AuthorizationParameters,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

const openConsent = ({ browser }: Pick<TestUser, 'browser'>, parameters: AuthorizationParameters): Promise<HtmlPage> =>
  browser.open(authorizationPath(buildAuthorizationRequest(parameters).query));

/** Returns the scopes of the page's checkboxes, grouped by whether they are checked. */
function readCheckboxes({ text }: HtmlPage): { checked: string[]; unchecked: string[] } {
  const boxes = [...text.matchAll(/<input type="checkbox" name="scope" value="([^"]+)"([^>]*)>/g)];
  const scopesOf = (isChecked: boolean): string[] =>
    boxes.filter(([, , attributes = '']) => /\bchecked\b/.test(attributes) === isChecked).map(([, scope = '']) => scope);
  return { checked: scopesOf(true), unchecked: scopesOf(false) };
}

/** Signs in, selects only the given scopes on the consent page, and returns the granted scopes. */
async function grantScopes(user: TestUser, parameters: AuthorizationParameters, selected: readonly Scope[]): Promise<string | undefined> {
  const code = await obtainAuthorizationCode(server.origin, user, parameters, { decision: 'allow', scope: selected });
  return tokenResponseSchema.parse(await (await redeemCode(server.origin, code)).json()).scope;
}

const powerful = scopeNames.filter((name) => powerfulGroups.has(getPermissionGroup(name)));
const ordinary = scopeNames.filter((name) => !powerful.includes(name));

describe('powerful permissions on the consent page', () => {
  test('include all administrative permissions, and those that control the account', () => {
    const administrative = scopeNames.filter((name) => scopeDefinitions[name].admin);
    expect(powerful).toEqual(expect.arrayContaining([...administrative, 'users.write', 'connected_apps.write', 'api_keys.manage']));
    expect(ordinary).toEqual(expect.arrayContaining(['users.read', 'orders.read', 'orders.write', 'payments.write']));
  });

  test('are not selected, while the others are', async () => {
    const admin = await signUpWithRole(server.db, server.origin, 'admin');
    const { clientId, redirectUri } = await createWebApplication(server.db, scopeNames);
    const page = await openConsent(admin, { client_id: clientId, redirect_uri: redirectUri, scope: ['openid', ...scopeNames].join(' ') });
    const { checked, unchecked } = readCheckboxes(page);
    expect(checked.toSorted()).toEqual(ordinary.toSorted());
    expect(unchecked.toSorted()).toEqual(powerful.toSorted());
    expect(page.text).toContain('Select only the permissions that you want to grant.');
    expect(page.text).toContain('<a href="#powerful">Review the powerful permissions</a>');
  });

  test('are not granted unless the user selects them', async () => {
    const admin = await signUpWithRole(server.db, server.origin, 'admin');
    const request = { scope: 'openid users.read users.write orders.manage' };
    expect(await grantScopes(admin, request, ['users.read'])).toBe('openid users.read');
    expect(readCheckboxes(await openConsent(admin, request)).unchecked).toEqual(['users.write', 'orders.manage']);
    expect(await grantScopes(admin, request, ['users.read', 'orders.manage'])).toBe('openid users.read orders.manage');
  });

  test('stay selected if the user has granted them to the application before', async () => {
    const admin = await signUpWithRole(server.db, server.origin, 'admin');
    await grantScopes(admin, { scope: 'openid users.read orders.manage' }, ['users.read', 'orders.manage']);
    const page = await openConsent(admin, { scope: 'openid users.read orders.manage refunds.write' });
    expect(readCheckboxes(page)).toEqual({ checked: ['users.read', 'orders.manage'], unchecked: ['refunds.write'] });
    const again = await openConsent(admin, { scope: 'openid users.read orders.manage', prompt: 'consent' });
    expect(readCheckboxes(again)).toEqual({ checked: ['users.read', 'orders.manage'], unchecked: [] });
    expect(again.text).toContain('<a href="#powerful">Includes powerful permissions</a>');
  });

  test('are not selected for another user or another application', async () => {
    const [admin, other] = [
      await signUpWithRole(server.db, server.origin, 'admin'),
      await signUpWithRole(server.db, server.origin, 'admin'),
    ];
    const scope = 'openid users.read orders.manage';
    await grantScopes(admin, { scope }, ['users.read', 'orders.manage']);
    expect(readCheckboxes(await openConsent(other, { scope })).unchecked).toEqual(['orders.manage']);
    const { clientId, redirectUri } = await createWebApplication(server.db, ['users.read', 'orders.manage']);
    const page = await openConsent(admin, { client_id: clientId, redirect_uri: redirectUri, scope });
    expect(readCheckboxes(page).unchecked).toEqual(['orders.manage']);
  });

  test('are not selected for a device, even if the user has granted them before', async () => {
    const admin = await signUpWithRole(server.db, server.origin, 'admin');
    const scope = 'openid users.read orders.manage';
    await grantScopes(admin, { scope }, ['users.read', 'orders.manage']);
    const device = await startDeviceAuthorization(server.origin, scope);
    const page = await admin.browser.submit(await submitUserCode(admin, device.user_code), {});
    expect(readCheckboxes(page)).toEqual({ checked: ['users.read'], unchecked: ['orders.manage'] });
    await admin.browser.submit(page, { decision: 'allow', scope: readCheckboxes(page).checked });
    await server.db.em.fork().execute(expirePollIntervalSql);
    const tokens = tokenResponseSchema.parse(await (await pollDeviceToken(server.origin, device.device_code)).json());
    expect(tokens.scope).toBe('openid users.read');
  });
});

describe('the selection on the consent page', () => {
  test('is kept when the page shows an error', async () => {
    const anna = await signUp(server.origin);
    const page = await openConsent(anna, { scope: 'openid users.read users.write orders.read orders.write' });
    const selected = ['users.write', 'orders.write'];
    const rejected = await anna.browser.submit(page, {
      decision: 'allow',
      scope: selected,
      limit_currency: 'EUR',
      limit_per_order: 'much',
    });
    expect(rejected.response.status).toBe(422);
    expect(readCheckboxes(rejected)).toEqual({
      checked: expect.arrayContaining(selected),
      unchecked: expect.arrayContaining(['users.read', 'orders.read']),
    });
  });

  test("must contain a permission if the application does not request the user's identity", async () => {
    const admin = await signUpWithRole(server.db, server.origin, 'admin');
    const page = await openConsent(admin, { scope: 'orders.manage refunds.write' });
    expect(page.text).not.toContain('Clear the checkbox');
    const rejected = await admin.browser.submit(page, { decision: 'allow', scope: [] });
    expect(rejected.response.status).toBe(422);
    expect(rejected.text).toContain('<a href="#permissions">Select at least one permission, or cancel.</a>');
    expect(rejected.text).toContain('<fieldset id="permissions">');
    const { externalRedirect: leaves } = await admin.browser.submit(rejected, { decision: 'allow', scope: ['orders.manage'] });
    expect(leaves?.searchParams.get('code')).toBeTruthy();
  });
});
