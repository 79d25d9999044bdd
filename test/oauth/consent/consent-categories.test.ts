import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  basicAuthorization,
  buildAuthorizationRequest,
  authorizationPath,
  sendTokenRequest,
  signUp,
} from '../../support/oauth/oauth-flow.ts';
import type { HtmlPage } from '../../support/browser/browser.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { orderDetailsParameter, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import {
  connectApplication,
  createProductsInCategories,
  limitedTo,
  moveProduct,
  offeredCategories,
} from '../../support/shop/category-limits.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
let products: Record<'books' | 'tea' | 'office', number>;
beforeAll(async () => {
  products = await createProductsInCategories(shop, ['books', 'tea', 'office']);
});

type Browser = Awaited<ReturnType<typeof signUp>>['browser'];

const openConsent = (browser: Browser, details: RequestedLimits | undefined): Promise<HtmlPage> => {
  const request = { scope: 'openid orders.write', ...(details && { authorization_details: orderDetailsParameter(details) }) };
  return browser.open(authorizationPath(buildAuthorizationRequest(request).query));
};

describe('the consent page for requested categories', () => {
  test.each([
    ['en', 'wants to order only products in these categories:'],
    ['de', 'möchte nur Produkte dieser Kategorien bestellen:'],
    ['fr', 'souhaite commander uniquement des produits de ces catégories'],
    ['es', 'quiere pedir solo productos de estas categorías:'],
  ])('states them in the language of the customer: %s', async (language, expected) => {
    const { browser } = await signUp(shop.origin);
    await browser.open(`/account?language=${language}`);
    const { text } = await openConsent(browser, limitedTo('books', 'tea'));
    expect(text).toContain(expected);
    expect(offeredCategories(text)).toEqual(['books', 'tea']);
  });

  test('grants them without a change, in the token response and the access token', async () => {
    const { tokens } = await connectApplication(shop, limitedTo('books', 'tea'));
    expect([tokens.authorization_details, decodeJwt(tokens.access_token)]).toMatchObject([
      [limitedTo('books', 'tea')],
      { authorization_details: [limitedTo('books', 'tea')] },
    ]);
  });

  test('lets the customer remove categories, but not add others', async () => {
    const app = await connectApplication(shop, limitedTo('books', 'tea'), { limit_category: ['tea', 'office'] });
    expect(await app.details()).toMatchObject(limitedTo('tea'));
    expect([(await app.order(products.tea)).status, (await app.order(products.office)).status]).toEqual([201, 403]);
  });

  test('requires at least one category, and shows the page again', async () => {
    const { browser } = await signUp(shop.origin);
    const opened = await openConsent(browser, limitedTo('books', 'tea'));
    const page = await browser.submit(opened, { decision: 'allow', limit_category: 'office' });
    expect([page.response.status, page.text]).toEqual([422, expect.stringContaining('Choose between 1 and 2 categories')]);
    const granted = await browser.submit(page, { decision: 'allow', limit_category: 'books' });
    expect(granted.externalRedirect?.searchParams.get('code')).toBeTruthy();
  });
});

describe('the consent page without requested categories', () => {
  test('lets the customer select categories of the shop', async () => {
    const { browser } = await signUp(shop.origin);
    const { text } = await openConsent(browser, undefined);
    expect(text).toContain('If you select no categories, products in all categories can be ordered.');
    expect(offeredCategories(text)).toEqual(expect.arrayContaining(['books', 'office', 'tea']));
    const app = await connectApplication(shop, undefined, { limit_category: 'books' });
    expect(await app.details()).toMatchObject(limitedTo('books'));
    expect([(await app.order(products.books)).status, (await app.order(products.tea)).status]).toEqual([201, 403]);
  });

  test('accepts a category whose last product was moved in the meantime, because all products would otherwise be permitted', async () => {
    const { id } = await shop.createProduct({ category: 'ending' });
    await moveProduct(shop, id, 'books');
    const app = await connectApplication(shop, undefined, { limit_category: 'ending' });
    expect(await app.details()).toMatchObject(limitedTo('ending'));
  });

  test.each([[['x'.repeat(65)]], [['']], [Array.from({ length: 51 }, (_, index) => `c${index}`)]])('rejects %o', async (categories) => {
    const { browser } = await signUp(shop.origin);
    const opened = await openConsent(browser, undefined);
    const page = await browser.submit(opened, { decision: 'allow', limit_category: categories });
    expect([page.response.status, page.text]).toEqual([422, expect.stringContaining('Choose between 1 and 50 categories')]);
  });
});

describe('the account page', () => {
  test('lets the customer change the categories of an application', async () => {
    const app = await connectApplication(shop, limitedTo('books', 'tea'));
    const { id } = (await app.call('GET', '/connected-apps')).body.data[0];
    const page = await app.anna.browser.open(`/account/apps/${id}/limits`);
    expect(offeredCategories(page.text)).toEqual(expect.arrayContaining(['books', 'office', 'tea']));
    await app.anna.browser.submit(page, { decision: 'save', limit_category: ['office'] });
    expect(await app.details()).toMatchObject(limitedTo('office'));
    expect([(await app.order(products.office)).status, (await app.order(products.tea)).status]).toEqual([201, 403]);
  });
});

describe('a refresh', () => {
  async function connect() {
    const app = await connectApplication(shop, limitedTo('books', 'tea'));
    let refreshToken = app.tokens.refresh_token ?? '';
    const refresh = async (details: RequestedLimits) => {
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken, authorization_details: orderDetailsParameter(details) };
      const response = await sendTokenRequest(shop.origin, form, basicAuthorization(app.client.clientId, app.client.secret));
      const body: JsonBody = await response.json();
      refreshToken = body.refresh_token ?? refreshToken;
      return { status: response.status, body };
    };
    return { ...app, refresh };
  }

  test('can permanently remove categories, but not add them again', async () => {
    const app = await connect();
    expect((await app.refresh(limitedTo('books'))).body.authorization_details).toMatchObject([limitedTo('books')]);
    for (const wider of [limitedTo('books', 'tea'), limitedTo('tea')]) {
      const { status, body } = await app.refresh(wider);
      expect([status, body]).toMatchObject([
        400,
        { error: 'invalid_authorization_details', error_description: 'products permits more than the user allowed' },
      ]);
    }
    expect((await app.order(products.tea)).status).toBe(403);
  });

  test('without categories keeps them', async () => {
    const { body } = await (await connect()).refresh({ actions: ['place'] });
    expect(body.authorization_details).toMatchObject([{ actions: ['place'], ...limitedTo('books', 'tea') }]);
  });
});
