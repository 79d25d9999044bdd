import { expect, test } from 'vitest';
import { obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { connectApplication, createProductsInCategories, limitedTo } from '../../support/shop/category-limits.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { runInProcess } from '../run-command-line.ts';

const shop = withShop();

test('apps limit sets categories, api-keys create accepts them, and whoami shows them', async () => {
  await createProductsInCategories(shop, ['books', 'tea']);
  const app = await connectApplication(shop, undefined);
  const { id } = (await app.call('GET', '/connected-apps')).body.data[0];
  const { access_token: token } = await obtainTokens(shop.origin, app.anna, [
    'connected_apps.read',
    'connected_apps.write',
    'api_keys.manage',
    'users.read',
  ]);
  const env = { MANDATE_API_URL: shop.origin, MANDATE_TOKEN: token };
  const limited = await runInProcess(['apps', 'limit', String(id), '--limit-category', 'books', '--limit-category', 'tea', '--json'], {
    env,
  });
  expect([limited.exitCode, limited.stderr]).toEqual([0, '']);
  expect(JSON.parse(limited.stdout)).toMatchObject({ authorization_details: [limitedTo('books', 'tea')] });

  const flags = ['--name', 'Books', '--scopes', 'users.read', '--order-limits.products.categories', 'books'];
  const created = await runInProcess(['api-keys', 'create', ...flags, '--json'], { env });
  expect([created.exitCode, created.stderr]).toEqual([0, '']);
  const key: unknown = JSON.parse(created.stdout).key;
  const shown = await runInProcess(['whoami'], { env: { ...env, MANDATE_TOKEN: String(key) } });
  expect(shown.stdout).toContain('categories books');

  const unknown = await runInProcess(['apps', 'limit', String(id), '--limit-category', 'unheard-of'], { env });
  expect([unknown.exitCode, unknown.stderr]).toEqual([expect.any(Number), expect.stringContaining('unheard-of')]);
  expect(unknown.exitCode).not.toBe(0);
});
