import { describe, expect, test } from 'vitest';
import type { HtmlPage } from '../../support/browser/browser.ts';
import { obtainLimitedTokens, orderDetailsParameter, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  createWebApplication,
  obtainAuthorizationCode,
  redeemCode,
  signUp,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

const requested: RequestedLimits = {
  limits: { currency: 'GBP', per_order: 5000, per_period: 20_000, period: 'month' },
  valid_until: '2037-01-31T12:00:00.000Z',
};

const openConsent = ({ browser }: TestUser, details: RequestedLimits | undefined, scope = 'openid orders.write'): Promise<HtmlPage> => {
  const parameters = { scope, ...(details && { authorization_details: orderDetailsParameter(details) }) };
  return browser.open(authorizationPath(buildAuthorizationRequest(parameters).query));
};

/** Submits the consent page with the given fields. Returns the granted authorization details and the budget. */
async function decide(user: TestUser, details: RequestedLimits | undefined, form: Record<string, string | readonly string[]>) {
  const tokens = await obtainLimitedTokens(shop.origin, user, ['orders.write'], details, { scope: ['orders.write'], ...form });
  const { body } = await shop.callApi('GET', '/api/v1/authorization', { token: tokens.access_token });
  expect(body.authorization_details).toEqual(tokens.authorization_details ?? []);
  return body;
}

describe('the consent page for requested limits', () => {
  test('describes the amounts, period, end and actions in words', async () => {
    const { text } = await openConsent(await signUp(shop.origin), { ...requested, actions: ['place', 'pay'] });
    expect(text).toContain(
      'wants to place orders of at most £50.00 each, of at most £200.00 per month in total, and until January 31, 2037.',
    );
    expect(text).toContain('You can lower these limits now');
    expect([text.includes('Place orders'), text.includes('Pay for orders'), text.includes('Cancel orders')]).toEqual([true, true, false]);
    expect(text.replace(/<[^>]*>/g, '')).not.toMatch(/\b(client|scope|grant|token|OAuth)\b/i);
  });

  test('grants the requested limits without a change', async () => {
    const body = await decide(await signUp(shop.origin), requested, {});
    expect(body.authorization_details).toMatchObject([requested]);
  });

  test('lets the customer lower every limit', async () => {
    const form = {
      limit_per_order: '20',
      limit_per_period: '99,50',
      limit_until: '2036-12-31',
      limit_action: ['place'],
      time_zone: 'Europe/Berlin',
    };
    const body = await decide(await signUp(shop.origin), requested, form);
    expect(body.authorization_details).toEqual([
      {
        type: 'mandate_orders',
        actions: ['place'],
        limits: { currency: 'GBP', per_order: 2000, per_period: 9950, period: 'month' },
        valid_until: '2036-12-31T22:59:59.999Z',
        orders: 'all',
        approval: 'above_limit',
      },
    ]);
    expect(body.budget.time_zone).toBe('Europe/Berlin');
  });

  test.each([
    ['limit_per_order', '50.01', 'Enter £50.00 or less'],
    ['limit_per_order', '', 'Enter £50.00 or less'],
    ['limit_per_period', '200.01', 'Enter £200.00 or less'],
    ['limit_per_order', '-1', 'Enter an amount such as'],
    ['limit_per_order', '0', 'Enter an amount such as'],
    ['limit_per_order', '1.234', 'Enter an amount such as'],
    ['limit_per_order', '99999999999999999999', 'Enter an amount such as'],
    ['limit_until', '2037-02-01', 'Enter January 31, 2037 or an earlier date'],
    ['limit_until', '', 'Enter January 31, 2037 or an earlier date'],
    ['limit_until', '2026-01-01', 'Enter a date in the future'],
    ['limit_until', '2036-99-01', 'Enter a date in the future'],
  ])('rejects %s = "%s", and shows the page again', async (field, value, message) => {
    const anna = await signUp(shop.origin);
    const page = await anna.browser.submit(await openConsent(anna, requested), { decision: 'allow', [field]: value });
    expect([page.response.status, page.url.pathname]).toEqual([422, expect.stringMatching(/^\/consent\//)]);
    expect(page.text).toContain(message);
    expect(page.text).toMatch(new RegExp(`id="${field}"[^>]*aria-invalid="true"`));
    const granted = await anna.browser.submit(page, {
      decision: 'allow',
      limit_per_order: '10',
      limit_per_period: '10',
      limit_until: '2036-01-01',
    });
    expect(granted.externalRedirect?.searchParams.get('code')).toBeTruthy();
  });

  test('is in the language of the customer, with amounts and dates in its format', async () => {
    const anna = await signUp(shop.origin);
    await anna.browser.open('/account?language=de');
    const page = await openConsent(anna, requested);
    const limits = 'höchstens 50,00\u00a0£ pro Bestellung, insgesamt höchstens 200,00\u00a0£ pro Monat und bis zum 31. Januar 2037';
    expect(page.text).toContain(`möchte Bestellungen aufgeben: ${limits}.`);
    const rejected = await anna.browser.submit(page, { decision: 'allow', limit_per_order: '50,01', limit_until: '2037-02-01' });
    expect(rejected.text).toContain('Geben Sie höchstens 50,00\u00a0£ ein');
    expect(rejected.text).toContain('Geben Sie den 31. Januar 2037 oder einen früheren Tag ein');
  });

  test('cannot be changed to another currency or period', async () => {
    const body = await decide(await signUp(shop.origin), requested, { limit_currency: 'EUR', limit_period: 'day' });
    expect(body.authorization_details).toMatchObject([requested]);
  });
});

describe('the consent page without requested limits', () => {
  test('lets the customer set limits in a currency of the shop', async () => {
    const anna = await signUp(shop.origin);
    const { text } = await openConsent(anna, undefined);
    expect(text).toContain('Order limits');
    expect([...text.matchAll(/<option value="([A-Z]{3})"/g)].map(([, code]) => code)).toEqual(['EUR', 'USD']);
    const form = { limit_currency: 'EUR', limit_per_order: '12.50', limit_per_period: '30', limit_period: 'week' };
    const body = await decide(anna, undefined, form);
    expect(body.authorization_details).toEqual([
      {
        type: 'mandate_orders',
        actions: ['place', 'pay', 'cancel'],
        limits: { currency: 'EUR', per_order: 1250, per_period: 3000, period: 'week' },
        orders: 'all',
        approval: 'above_limit',
      },
    ]);
  });

  test('rejects another currency', async () => {
    const anna = await signUp(shop.origin);
    const form = { decision: 'allow', limit_currency: 'CHF', limit_per_order: '1' };
    const page = await anna.browser.submit(await openConsent(anna, undefined), form);
    expect([page.response.status, page.text]).toEqual([422, expect.stringContaining('Choose a currency')]);
  });

  test('grants unlimited orders if the customer sets no limit', async () => {
    expect((await decide(await signUp(shop.origin), undefined, {})).authorization_details).toEqual([]);
  });

  test('offers no limits to an application that can neither order nor pay', async () => {
    expect((await openConsent(await signUp(shop.origin), undefined, 'openid orders.read')).text).not.toContain('limit_per_order');
  });
});

describe('the orders that the application can access', () => {
  const ownOrders = 'can access only orders that it placed itself, not your other orders.';

  test('are stated in words, and can be reduced to its own orders', async () => {
    const anna = await signUp(shop.origin);
    const { text } = await openConsent(anna, { orders: 'all' });
    expect(text).toContain('requests access to all of your orders, including orders that you placed elsewhere.');
    expect([...text.matchAll(/<option value="(own|all)"( selected)?\s*>/g)].map(([, level, isSelected]) => [level, isSelected])).toEqual([
      ['own', undefined],
      ['all', ' selected'],
    ]);
    expect((await decide(anna, { orders: 'all' }, {})).authorization_details).toMatchObject([{ orders: 'all' }]);
    const reduced = await decide(await signUp(shop.origin), { orders: 'all' }, { limit_orders: 'own' });
    expect(reduced.authorization_details).toMatchObject([{ orders: 'own' }]);
  });

  test('are stated in words, and cannot be extended, if the application requests only its own orders', async () => {
    const anna = await signUp(shop.origin);
    const { text } = await openConsent(anna, { orders: 'own' });
    expect([text.includes(ownOrders), text.includes('name="limit_orders"')]).toEqual([true, false]);
    expect((await decide(anna, { orders: 'own' }, { limit_orders: 'all' })).authorization_details).toMatchObject([{ orders: 'own' }]);
  });

  test('can be reduced even if the application requests no limits', async () => {
    const anna = await signUp(shop.origin);
    expect((await openConsent(anna, undefined)).text).toContain('Only orders that it placed');
    const body = await decide(anna, undefined, { limit_orders: 'own' });
    expect(body.authorization_details).toEqual([
      { type: 'mandate_orders', actions: ['place', 'pay', 'cancel'], orders: 'own', approval: 'above_limit' },
    ]);
  });

  test.each([
    ['de', 'kann nur auf Bestellungen zugreifen, die die Anwendung selbst aufgegeben hat'],
    ['fr', 'n’a accès qu’aux commandes que l’application a passées elle-même'],
    ['es', 'solo puede acceder a los pedidos que ha hecho la propia aplicación'],
  ])('are stated in the language of the customer: %s', async (language, expected) => {
    const anna = await signUp(shop.origin);
    await anna.browser.open(`/account?language=${language}`);
    expect((await openConsent(anna, { orders: 'own' })).text).toContain(expected);
  });
});

describe('a later sign-in', () => {
  const requestOf = (client: { clientId: string; redirectUri: string }) => ({
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    scope: 'openid orders.write',
  });

  test('of an application with limits shows the consent page again, even with an earlier consent without limits', async () => {
    const anna = await signUp(shop.origin);
    const client = await createWebApplication(shop.db, ['orders.write']);
    await obtainAuthorizationCode(shop.origin, anna, requestOf(client));
    const details = { authorization_details: orderDetailsParameter(requested) };
    await obtainAuthorizationCode(shop.origin, anna, { ...requestOf(client), ...details });
    const page = await anna.browser.open(authorizationPath(buildAuthorizationRequest(requestOf(client)).query));
    expect(page.url.pathname).toMatch(/^\/consent\//);
  });

  test('of a preapproved application does not replace limits with unlimited access', async () => {
    const anna = await signUp(shop.origin);
    const client = await createWebApplication(shop.db, ['orders.write']);
    const details = { authorization_details: orderDetailsParameter(requested) };
    await obtainAuthorizationCode(shop.origin, anna, { ...requestOf(client), ...details });
    await shop.db.em
      .fork()
      .execute(`update applications set preapproved_scopes = '{openid,orders.write}' where client_id = ?`, [client.clientId]);
    const page = await anna.browser.open(authorizationPath(buildAuthorizationRequest(requestOf(client)).query));
    expect(page.url.pathname).toMatch(/^\/consent\//);
    const ben = await signUp(shop.origin);
    const other = await ben.browser.open(
      authorizationPath(buildAuthorizationRequest({ ...requestOf(client), scope: 'orders.write' }).query),
    );
    expect(other.externalRedirect?.searchParams.get('code')).toBeTruthy();
  });
});

test('the consent is audited with the limits', async () => {
  const anna = await signUp(shop.origin);
  await redeemCode(
    shop.origin,
    await obtainAuthorizationCode(shop.origin, anna, {
      scope: 'openid orders.write',
      authorization_details: orderDetailsParameter(requested),
    }),
  );
  const [event] = await shop.db.em
    .fork()
    .execute(`select details from audit_events where action = 'consent.granted' and user_id = ? order by id desc limit 1`, [anna.id]);
  expect(JSON.parse(event?.details.limits)).toMatchObject(requested);
});
