import { stripVTControlCharacters } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { withShop } from '../../support/shop/with-shop.ts';
import { runInProcess } from '../run-command-line.ts';

const shop = withShop();
let env: Record<string, string>;

beforeAll(async () => {
  env = { MANDATE_API_URL: shop.origin, MANDATE_TOKEN: shop.token };
  for (const name of ['Alabaster vase', 'Granite bowl']) await shop.createProduct({ name, category: name.split(' ')[1] });
});

test('mandate products list --q searches by text', async () => {
  for (const q of ['vase alab', 'alabastre']) {
    const { stdout, exitCode } = await runInProcess(['products', 'list', '--q', q, '--sort', 'relevance', '--json'], { env });
    expect([exitCode, JSON.parse(stdout).data]).toEqual([0, [expect.objectContaining({ name: 'Alabaster vase' })]]);
  }
});

test('mandate product-categories list prints a table of categories and counts', async () => {
  const { stdout, exitCode } = await runInProcess(['product-categories', 'list'], { env, columns: 80 });
  expect([
    exitCode,
    stripVTControlCharacters(stdout)
      .trim()
      .split('\n')
      .map((row) => row.trim().split(/\s{2,}/)),
  ]).toEqual([
    0,
    [
      ['CATEGORY', 'PRODUCT COUNT'],
      ['bowl', '1'],
      ['vase', '1'],
    ],
  ]);
});
