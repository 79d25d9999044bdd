/**
 * Tests characters that PostgreSQL cannot store: U+0000 in any text, and unpaired surrogates in JSON. A schema that accepts them causes a
 * server error.
 */
import { scopeNames } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import {
  type FieldCandidate,
  listRequestFields,
  type RequestField,
  sendRequestWithField,
} from '../../support/api-assertions/request-fields.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const isText = ({ schema: { type, enum: values } }: FieldCandidate): boolean => [type].flat().includes('string') && values === undefined;
const fields = listRequestFields(isText);
const members = fields.filter(({ pointer, body }) => pointer !== undefined && body !== undefined);
const queryParameters = fields.filter(({ query }) => query !== undefined);

const shop = withShop({ previewVersions: true });
const administrator = shop.admin(scopeNames);

test('the OpenAPI documents declare texts and URLs', () => {
  expect(members.map(({ method, path, pointer }) => `${method} ${path}${pointer ?? ''}`)).toEqual(
    expect.arrayContaining([
      'POST /api/v1/orders/1/shipments/tracking_url',
      'POST /api/v1/orders/1/payments/return_url',
      'PATCH /api/v1/applications/1/logo_uri',
      'POST /api/v1/applications/redirect_uris/0',
      'POST /api/v1/orders/note',
    ]),
  );
  expect(queryParameters.map(({ path, query }) => `${path} ${query ?? ''}`)).toContain('/api/v1/products q');
});

// A query cannot contain an unpaired surrogate, because its percent-encoding is UTF-8.
const cases = [
  ...[...members, ...queryParameters].map((field) => ['U+0000', '\u0000', field] as const),
  ...members.map((field) => ['an unpaired surrogate', '\ud800', field] as const),
];
describe.each(cases.map(([name, ...rest]) => [name, describeField(rest[1]), ...rest] as const))(
  '%s in %s',
  (_name, _field, character, field) => {
    test('is rejected', async () => {
      for (const start of ['Text', 'https://shop.example/path', 'com.example.app:/path']) {
        const { status, text } = await sendRequestWithField(shop, administrator.token, field, `${start}${character}`);
        // Some handlers first find out that the resource of the path does not exist, or that the server has no backup directory.
        expect([400, 404, 409], text).toContain(status);
      }
    });
  },
);

function describeField({ method, path, pointer, query = '' }: RequestField): string {
  return `${method} ${path}${pointer ?? `?${query}`}`;
}
