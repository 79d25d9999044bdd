/**
 * Tests values at and beyond the limits of the accepted range, for every timestamp in a query or body that the OpenAPI documents declare.
 */
import { scopeNames } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import {
  type FieldCandidate,
  type RequestField,
  listRequestFields,
  sendRequestWithField,
} from '../../support/api-assertions/request-fields.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { completeImport, runPendingTasks } from '../../support/shop/run-tasks.ts';

const isTimestamp = ({ schema }: FieldCandidate): boolean => schema.format === 'date-time';
const fields = listRequestFields(isTimestamp);

const rejectedValues = [
  '0000-01-01T00:00:00Z',
  '0000-12-31T23:59:59.999Z',
  '0001-01-01T00:00:00+00:01',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59-23:59',
  '9999-12-31T23:59:59-00:01',
  '9999-12-31T23:59:59.9991Z',
  '9999-12-31T24:00:00Z',
  '-000001-01-01T00:00:00Z',
  '-0001-01-01T00:00:00Z',
  '+010000-01-01T00:00:00Z',
  '10000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '2016-12-31T23:59:60Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-01T00:00:00+24:00',
  '2026-01-01T00:00:00+99:99',
  '2026-01-01T00:00:00',
  `2026-01-01T00:00:00.${'9'.repeat(500)}Z`,
  '2026-01-01T00:00:00Z BC',
  '2026-01-01',
  '1e999',
  '1767225600',
  'infinity',
  '-infinity',
  'now',
  'epoch',
  'allballs',
  'NaN',
  '２０２６-01-01T00:00:00Z',
  '2026-01-01T00:00:00Z\u0000',
  ' 2026-01-01T00:00:00Z',
];
/** Timestamps that every filter accepts, although PostgreSQL itself would reject some of the UTC offsets. */
const acceptedValues = [
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00-23:59',
  '0000-12-31T23:59:59-00:01',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59.999+23:59',
  '2026-01-31T12:00:00+15:59',
  '2026-01-31T12:00:00-23:59',
  '2026-01-31T12:00:00.123456789Z',
  '2024-02-29T00:00:00+00:00',
];

const shop = withShop({ previewVersions: true });
const admin = shop.admin(scopeNames);

const send = (field: RequestField, value: string): Promise<ApiResponse> => sendRequestWithField(shop, admin.token, field, value);

const cancelTasks = (): Promise<unknown> =>
  shop.db.em.fork().execute(`update tasks set status = 'canceled', finished_at = now() where finished_at is null`);

/** Fields whose timestamps must be in the future, or within the next year. The server rejects other times with 400. */
const timestampsWithFurtherRules: ReadonlySet<string> = new Set(['/expires_at', '/valid_until', '/order_limits/valid_until']);

test('the OpenAPI documents declare timestamps in queries and bodies', () => {
  expect(fields.filter(({ query }) => query !== undefined).length).toBeGreaterThan(5);
  expect(fields.filter(({ pointer }) => pointer !== undefined).length).toBeGreaterThan(2);
  expect(fields.filter(({ method, body }) => method !== 'GET' && body === undefined)).toEqual([]);
});

describe.each(fields.map((field) => [`${field.method} ${field.path} ${field.query ?? field.pointer}`, field] as const))(
  '%s',
  (_name, field) => {
    test('rejects every invalid value with an error that names the field', async () => {
      const location = field.query === undefined ? { pointer: `#${field.pointer}` } : { parameter: field.query };
      for (const value of rejectedValues) {
        const { status, body, text } = await send(field, value);
        expect([status, body.code], `${value}: ${text}`).toEqual([400, 'invalid_request']);
        expect(body.errors[0], value).toMatchObject({
          ...location,
          detail: expect.stringMatching(/^Must be (?:an RFC 3339|between 0001-01-01)/),
        });
      }
    });

    test('accepts the whole range, with any offset', async () => {
      for (const value of acceptedValues) {
        await cancelTasks();
        const { status, text } = await send(field, value);
        const statuses = timestampsWithFurtherRules.has(field.pointer ?? '') ? [200, 201, 400] : [200, 202];
        expect(statuses, `${value}: ${text}`).toContain(status);
        await runPendingTasks(shop);
      }
    });
  },
);

describe('an import file', () => {
  const rowsWith = (values: readonly string[]): string => {
    const rows = values.map((value, at) => `T-${at},${value},anna,TS,1,5`);
    return `reference,created_at,customer,sku,quantity,unit_price\n${rows.join('\n')}\n`;
  };
  const importFile = async (file: string): Promise<{ task: JsonBody; remarks: JsonBody[] }> => {
    const query = new URLSearchParams({ source: 'timestamps', currency: 'GBP', unknown_customers: 'create', unknown_products: 'create' });
    const response = await fetch(`${shop.origin}/api/v1/order-imports?${query.toString()}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'text/csv' },
      body: file,
    });
    const text = await response.text();
    const started: ApiResponse = { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    return completeImport(shop, admin.token, started);
  };

  test('rejects the rows with values outside the range, and imports the others', async () => {
    await cancelTasks();
    const bad = rejectedValues.filter(
      (value) => !value.includes('\u0000') && !['2026-01-01', '2026-01-01T00:00:00', ' 2026-01-01T00:00:00Z'].includes(value),
    );
    const good = ['0001-01-01', '9999-12-31 23:59:59', '2026-01-31T12:00:00-23:59'];
    const { task, remarks } = await importFile(rowsWith([...bad, ...good]));
    expect(task).toMatchObject({ status: 'succeeded', result: { imported: { created: good.length, refused: bad.length } } });
    expect(remarks.map(({ line, field }) => [line, field])).toEqual(bad.map((_, at) => [at + 2, 'created_at']));
    const { body } = await shop.callApi('GET', '/api/v1/orders?created_at_lt=0001-01-02T00:00:00Z', { token: admin.token });
    expect(body.data.map((order: JsonBody) => order.created_at)).toEqual(['0001-01-01T00:00:00.000Z']);
  });
});
