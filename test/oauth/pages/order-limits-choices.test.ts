import { describe, expect, test } from 'vitest';
import type { HtmlPage } from '../../support/browser/browser.ts';
import { obtainLimitedTokens, orderDetailsParameter, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { authorizationPath, buildAuthorizationRequest, obtainTokens, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';

// Tests the fields for actions and approvals in the forms for order limits.

const shop = withShop();

type Form = Record<string, string | readonly string[]>;

const openConsent = ({ browser }: TestUser, details: RequestedLimits | undefined): Promise<HtmlPage> => {
  const parameters = { scope: 'openid orders.write', ...(details && { authorization_details: orderDetailsParameter(details) }) };
  return browser.open(authorizationPath(buildAuthorizationRequest(parameters).query));
};

async function decide(details: RequestedLimits | undefined, form: Form) {
  const tokens = await obtainLimitedTokens(shop.origin, await signUp(shop.origin), ['orders.write'], details, form);
  return tokens.authorization_details?.[0];
}

const checkedActions = (page: HtmlPage): string[] =>
  [...page.text.matchAll(/<input[^>]*name="limit_action"[^>]*>/g)].flatMap(([tag]) =>
    tag.includes('checked') ? (/value="(\w+)"/.exec(tag)?.[1] ?? []) : [],
  );
const selectedApproval = (page: HtmlPage): string | undefined =>
  /value="(\w+)" selected/.exec(/<select[^>]*name="limit_approval"[^>]*>[^]*?<\/select>/.exec(page.text)?.[0] ?? '')?.[1];

describe('the consent page', () => {
  test('offers the actions and the approval even if the application requests no limits', async () => {
    const page = await openConsent(await signUp(shop.origin), undefined);
    expect([checkedActions(page), selectedApproval(page)]).toEqual([['place', 'pay', 'cancel'], 'above_limit']);
    expect(await decide(undefined, { limit_action: ['pay'] })).toEqual({
      type: 'mandate_orders',
      actions: ['pay'],
      orders: 'all',
      approval: 'above_limit',
    });
  });

  test('requires at least one action', async () => {
    const anna = await signUp(shop.origin);
    const page = await anna.browser.submit(await openConsent(anna, undefined), { decision: 'allow', limit_action: [] });
    expect([page.response.status, page.text]).toEqual([422, expect.stringContaining('Choose at least one action')]);
  });

  test.each(['always', 'never', 'above_limit'] as const)('grants the chosen approval: %s', async (approval) => {
    const limits = { currency: 'EUR', per_order: 1000 };
    expect(await decide({ limits }, { limit_approval: approval })).toMatchObject({ limits, approval });
  });

  test.each(['always', 'never'] as const)('grants the chosen approval without other limits: %s', async (approval) => {
    expect(await decide(undefined, { limit_approval: approval })).toMatchObject({ actions: ['place', 'pay', 'cancel'], approval });
  });

  test.each(['always', 'never'] as const)('does not let the customer loosen a requested approval: %s', async (approval) => {
    const page = await openConsent(await signUp(shop.origin), { approval });
    expect(page.text).not.toContain('name="limit_approval"');
    for (const chosen of ['above_limit', 'never', 'always'])
      expect(await decide({ approval }, { limit_approval: chosen })).toMatchObject({ approval });
  });
});

describe('the account page', () => {
  async function connect(details: RequestedLimits | undefined) {
    const anna = await signUp(shop.origin);
    const { access_token: token } = await obtainLimitedTokens(shop.origin, anna, ['orders.write', 'connected_apps.read'], details);
    const { body } = await shop.callApi('GET', '/api/v1/connected-apps', { token });
    const path = `/account/apps/${body.data[0].id}/limits`;
    return {
      open: () => anna.browser.open(path),
      save: async (form: Form) => anna.browser.submit(await anna.browser.open(path), { decision: 'save', ...form }),
      details: async () => (await shop.callApi('GET', '/api/v1/authorization', { token })).body.authorization_details[0],
      token,
    };
  }

  test('shows the actions, and changes them from the next request on', async () => {
    const app = await connect({ actions: ['place', 'pay'] });
    expect(checkedActions(await app.open())).toEqual(['place', 'pay']);
    await app.save({ limit_action: ['pay', 'cancel'] });
    expect(await app.details()).toMatchObject({ actions: ['pay', 'cancel'] });
    const order = await shop.callApi('POST', '/api/v1/orders', { token: app.token, body: {} });
    expect([order.status, checkedActions(await app.open())]).toEqual([expect.any(Number), ['pay', 'cancel']]);
  });

  test('keeps the actions and the approval that the customer does not change', async () => {
    const app = await connect({ actions: ['place'], approval: 'always', limits: { currency: 'EUR', per_order: 1000 } });
    expect(selectedApproval(await app.open())).toBe('always');
    await app.save({ limit_per_order: '5' });
    expect(await app.details()).toMatchObject({ actions: ['place'], approval: 'always', limits: { currency: 'EUR', per_order: 500 } });
  });

  test('changes the approval', async () => {
    const app = await connect(undefined);
    for (const approval of ['never', 'always', 'never']) {
      await app.save({ limit_approval: approval });
      expect(await app.details()).toMatchObject({ approval });
    }
    await app.save({ limit_approval: 'above_limit' });
    expect(await app.details()).toBeUndefined();
  });

  test('requires at least one action, and changes nothing otherwise', async () => {
    const app = await connect({ actions: ['place'] });
    const page = await app.save({ limit_action: [] });
    expect([page.response.status, page.text]).toEqual([422, expect.stringContaining('Choose at least one action')]);
    expect(await app.details()).toMatchObject({ actions: ['place'] });
  });
});

test('an application whose customer chose `always` cannot order without an approval', async () => {
  const anna = await signUp(shop.origin);
  await obtainTokens(shop.origin, anna, []);
  const { access_token: token } = await obtainLimitedTokens(shop.origin, anna, ['orders.write'], undefined, { limit_approval: 'always' });
  const product = await shop.createProduct();
  const body = { items: [{ product_id: product.id, quantity: 1 }], delivery: { method: 'pickup', recipient_name: 'Anna Test' } };
  const { body: problem } = await shop.callApi('POST', '/api/v1/orders', { token, body });
  expect(problem).toMatchObject({ status: 403, code: 'limit_exceeded' });
});
