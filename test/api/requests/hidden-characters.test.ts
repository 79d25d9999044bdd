/** Tests bidirectional control characters and invisible characters in names that other users see. */
import { scopeNames } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { findHiddenCharacterCodePoint } from '../../../contract/schema/hidden-characters.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { completeSignUp, signUp } from '../../support/oauth/oauth-flow.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { isFreeText, listRequestFields, type FieldCandidate, sendRequestWithField } from '../../support/api-assertions/request-fields.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { completeImport } from '../../support/shop/run-tasks.ts';

const isName = ({ name, schema }: FieldCandidate): boolean => /(?:^|_)name$/.test(name) && isFreeText(schema);
/** Excludes column names of import files, because column names must match the file exactly and are not shown to other users. */
const fields = listRequestFields(isName).filter(({ query }) => !query?.endsWith('_column'));

const range = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at));
const hiddenCharacters = [
  '\u061c',
  '\u200e',
  '\u200f',
  ...range(0x20_2a, 0x20_2e),
  ...range(0x20_66, 0x20_69),
  '\u00ad',
  '\u034f',
  '\u180e',
  '\u200b',
  '\u200c',
  '\u200d',
  ...range(0x20_60, 0x20_65),
  ...range(0x20_6a, 0x20_6f),
  '\ufeff',
  '\u115f',
  '\u1160',
  '\u17b4',
  '\u17b5',
  '\u2800',
  '\u3164',
  '\uffa0',
  '\u2028',
  '\u2029',
  '\ufff9',
  '\u{1d173}',
  '\u{1bca0}',
  '\ufe00',
  '\ufe0f',
  '\u{e0100}',
  '\u{e01ef}',
  '\u{e0001}',
  '\u{e0041}',
  '\u{e007f}',
  '\u0000',
  '\u0007',
  '\u0085',
];
const codePointName = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

const allowedNames = [
  'Ann Lee',
  "Siobhán O'Neill-Łukasiewicz",
  'Zoë ❤️ 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ 🇩🇪 👍🏽',
  'محمد رضا',
  'علی‌رضا',
  'משה',
  'മോഹന്‍',
  'ක්‍රිෂ්ණ',
  'শর্মা',
  '葛󠄀城',
  '山田 太郎',
  '김철수',
  'ᠮᠣᠩᠭᠣᠯ᠋',
  'Nguyễn',
];

const shop = withShop({ previewVersions: true });
const administrator = shop.admin(scopeNames);

test('the OpenAPI documents declare the names of users, applications, keys, products and recipients', () => {
  expect(fields.map(({ method, path, pointer }) => `${method} ${path}${pointer}`)).toEqual(
    expect.arrayContaining([
      'POST /api/v1/users/name',
      'PATCH /api/v1/users/1/name',
      'POST /api/v1/applications/name',
      'PATCH /api/v1/applications/1/name',
      'POST /api/v1/api-keys/name',
      'POST /api/v1/products/name',
      'PUT /api/v1/delivery-methods/1/name',
      'POST /api/v1/orders/delivery/recipient_name',
      'POST /api/v2/orders/shipping_address/recipient_name',
    ]),
  );
  expect(fields.filter(({ body }) => body === undefined)).toEqual([]);
});

describe.each(fields.map((field) => [`${field.method} ${field.path} ${field.pointer}`, field] as const))('%s', (_name, field) => {
  test('rejects each character with an error that names it', async () => {
    for (const character of hiddenCharacters) {
      const { status, body, text } = await sendRequestWithField(shop, administrator.token, field, `Ann${character}Lee`);
      expect(status, text).toBe(400);
      const error = body.errors.find(({ pointer }: JsonBody) => pointer === `#${field.pointer}`);
      expect(error?.detail, text).toContain(`Must not contain ${codePointName(character)},`);
    }
  });
});

describe('the check of a name', () => {
  test.each(allowedNames)('accepts %s', async (name) => {
    expect(findHiddenCharacterCodePoint(name)).toBeUndefined();
    const { status, body, text } = await shop.callApi('POST', '/api/v1/users', {
      token: administrator.token,
      body: { name, email: `${crypto.randomUUID()}@example.com` },
    });
    expect([status, body.name], text).toEqual([201, name]);
  });

  test.each([
    ['a joiner between Latin letters', 'An\u200dn', 'U+200D'],
    ['two joiners in a row', 'علی\u200c\u200cرضا', 'U+200C'],
    ['a joiner at the end of a Persian name', 'علی\u200c', 'U+200C'],
    ['an emoji with a trailing joiner', '👩\u200d', 'U+200D'],
    ['two variation selectors', '葛\u{e0100}\u{e0101}', 'U+E0100'],
    ['a variation selector after a letter', 'A\ufe0f', 'U+FE0F'],
    ['a variation selector after a digit', '5\ufe0f', 'U+FE0F'],
    ['tags without a flag', 'Ann\u{e0067}\u{e007f}', 'U+E0067'],
    ['an invisible character next to an emoji', '❤️\u200b', 'U+200B'],
  ])('rejects %s', (_label, name, character) => expect(findHiddenCharacterCodePoint(name)).toBe(character));
});

describe('a hidden character is rejected', () => {
  const hostileName = 'Ann\u202eeeL';

  test('on the sign-up page', async () => {
    const browser = new HttpBrowser(shop.origin);
    const account = { name: hostileName, email: 'evil.name@example.com', password: 'correct horse battery' };
    const page = await completeSignUp(shop.origin, browser, await browser.open('/sign-up'), account);
    expect(page.text).toContain('Remove the invisible character U+202E from the name');
  });

  test('in the name of a new passkey', async () => {
    const { browser } = await signUp(shop.origin);
    const csrf = /name="csrf" value="([^"]*)"/.exec((await browser.open('/account/security')).text)?.[1] ?? '';
    const page = await browser.open('/account/passkeys', {
      method: 'POST',
      body: new URLSearchParams({ csrf, passkey: '{}', name: hostileName }),
    });
    expect(page.text).toContain('Remove the invisible character U+202E from the name');
  });

  test('in an import row', async () => {
    const file = `reference,created_at,customer,customer_name,recipient_name,sku,name,quantity,unit_price\nI-1,2020-01-01,a,${hostileName},Ann,S1,Tea,1,5\nI-2,2020-01-01,b,Ben,${hostileName},S1,Tea,1,5\nI-3,2020-01-01,c,Cy,Cy,S3,${hostileName},1,5\nI-4,2020-01-01,d,Di,Di,S1,Tea,1,5\n`;
    const query = new URLSearchParams({
      source: 'hidden',
      currency: 'GBP',
      unknown_customers: 'create',
      unknown_products: 'create',
    });
    const response = await fetch(`${shop.origin}/api/v1/order-imports?${query.toString()}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${administrator.token}`, 'content-type': 'text/csv' },
      body: file,
    });
    const text = await response.text();
    const started: ApiResponse = { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    const { remarks, counts } = await completeImport(shop, administrator.token, started);
    expect(remarks.map(({ line, field }) => [line, field])).toEqual([
      [2, 'customer_name'],
      [3, 'delivery.recipient_name'],
      [4, 'name'],
    ]);
    for (const { detail } of remarks) expect(detail).toContain('U+202E');
    expect(counts).toMatchObject({ created: 1, refused: 3 });
  });

  test('in client registration', async () => {
    const { body } = await shop.callApi('POST', '/api/v1/registration-tokens', { token: administrator.token, body: {} });
    const response = await fetch(`${shop.origin}/oauth/registration`, {
      method: 'POST',
      headers: { authorization: `Bearer ${body.initial_access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: hostileName,
        redirect_uris: ['https://app.example/callback'],
        token_endpoint_auth_method: 'none',
      }),
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: 'invalid_client_metadata', error_description: /U\+202E/ },
    ]);
  });
});

test('a name that was stored before the rule remains readable', async () => {
  const product = await shop.createProduct();
  const order = await shop.callApi('POST', '/api/v1/orders', {
    token: administrator.token,
    body: buildOrderInput([product, 1]),
  });
  await shop.db.em
    .fork()
    .execute(`update orders set delivery = delivery || ? where id = ?`, [JSON.stringify({ recipient_name: 'A\u202eb' }), order.body.id]);
  for (const path of [`/api/v1/orders/${order.body.id}`, '/api/v1/orders'])
    expect((await shop.callApi('GET', path, { token: administrator.token })).status).toBe(200);
});
