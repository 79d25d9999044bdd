/** Tests that length limits for text in requests count Unicode code points, as JSON Schema does. */
import { scopeNames } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { isFreeText, listRequestFields, sendRequestWithField, type RequestField } from '../../support/api-assertions/request-fields.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ previewVersions: true });
const administrator = shop.admin(scopeNames);

/** A character that consists of two UTF-16 code units but is one code point. */
const emoji = '😀';

/** Fields that reject strings of emoji, because the fields contain a URL or a key, or identify a category, time zone or application. */
const restrictedField = /(?:ur[il]s?(?:\/0)?|issuer|private_key|categories\/0|time_zone|client_id|cursor)$/;
const fields = listRequestFields(({ schema }) => isFreeText(schema) && schema.maxLength !== undefined).filter(
  ({ pointer, query, body }) => !restrictedField.test(pointer ?? query ?? '') && (query !== undefined || body !== undefined),
);
const label = ({ method, path, pointer, query }: RequestField): string => `${method} ${path} ${pointer ?? `?${query}`}`;

/** Sends a request with the given text in the field, and returns the field's error, if any. */
async function findError(field: RequestField, text: string): Promise<JsonBody> {
  const { body } = await sendRequestWithField(shop, administrator.token, field, text);
  return (body?.errors ?? []).find(({ pointer, parameter }: JsonBody) =>
    field.query === undefined ? pointer === `#${field.pointer}` : parameter === field.query,
  );
}

test('the fields include names, notes and references of products, orders and applications', () => {
  expect(fields.map(label)).toEqual(
    expect.arrayContaining([
      'POST /api/v1/products /name',
      'POST /api/v1/orders /note',
      'PATCH /api/v1/orders/1 /reference',
      'POST /api/v1/applications /name',
    ]),
  );
});

describe.each(fields.map((field) => [label(field), field] as const))('%s', (_label, field) => {
  const { maxLength, minLength } = field.schema;

  test('accepts an emoji as one character, up to the limit', async () => {
    expect(await findError(field, emoji.repeat(maxLength))).toBeUndefined();
    expect(await findError(field, emoji.repeat(maxLength + 1))).toMatchObject({ detail: expect.stringContaining(`${maxLength}`) });
  });

  test.runIf(field.schema.pattern)('requires a character other than white space', async () => {
    expect(minLength).toBe(1);
    expect(await findError(field, ' \t ')).toBeDefined();
  });
});

test('a product with a name of 200 emoji is stored and returned', async () => {
  const name = emoji.repeat(200);
  const { id } = await shop.createProduct({ name });
  for (const path of [`/api/v1/products/${id}`, `/api/v1/products?sort=-created_at`])
    expect((await shop.callApi('GET', path)).text).toContain(name);
});

describe('an e-mail address', () => {
  const address = (length: number): string => `${crypto.randomUUID()}${'x'.repeat(length - 36)}@example.com`;
  const createUser = (email: string) => shop.callApi('POST', '/api/v1/users', { token: administrator.token, body: { name: 'Ann', email } });

  test('has at most 64 characters before the @ (RFC 5321 section 4.5.3.1.1)', async () => {
    expect((await createUser(address(64))).status).toBe(201);
    const { status, body } = await createUser(address(65));
    expect([status, body.errors]).toMatchObject([400, [{ pointer: '#/email', detail: 'Must have at most 64 characters before the @.' }]]);
  });

  test('of more characters is rejected on the sign-up page', async () => {
    const browser = new HttpBrowser(shop.origin);
    const account = { name: 'Ann', email: address(65), password: 'correct horse battery' };
    const page = await browser.submit(await browser.open('/sign-up'), account);
    expect([page.response.status, page.text]).toEqual([400, expect.stringContaining('Error: ')]);
  });
});
