import { expect, test } from 'vitest';
import type { ImportedOrderState } from '../../../server/order-imports/compare-with-earlier-order-import.ts';
import { describeDifferenceToEarlierImport } from '../../../server/order-imports/describe-order-difference.ts';
import type { ImportedOrderFields, ImportedOrderLine } from '../../../server/order-imports/parse-order-row.ts';

const line: ImportedOrderLine = { sku: 'TEA-1', name: 'Tea', quantity: 2, unit_price: 500, tax_rate_bps: 0 };
const other: ImportedOrderLine = { ...line, sku: 'MUG-1', name: 'Mug' };
const head: ImportedOrderFields = {
  reference: 'R-1',
  created_at: '2024-05-01T10:00:00.000Z',
  status: 'paid',
  currency: 'EUR',
  shipping_total: 100,
  discount_total: 0,
  customer: 'c-7',
  customer_email: 'ann@example.com',
  delivery: { method: 'imported', recipient_name: 'Ann', city: 'London' },
};
const imported: ImportedOrderState = {
  order_id: 1,
  fingerprint: 'x',
  status: 'paid',
  currency: 'EUR',
  created_ms: Date.parse(head.created_at),
  shipping_total: 100,
  discount_total: 0,
  note: null,
  delivery: { method: 'imported', recipient_name: 'Ann', city: 'London' },
  user_id: 7,
  customers: ['c-7', 'ann@example.com'],
  lines: [line, other],
};

const describeDifference = (changed: Partial<ImportedOrderFields>, lines = [line, other], before: Partial<ImportedOrderState> = {}) =>
  describeDifferenceToEarlierImport({ ...head, ...changed }, lines, { ...imported, ...before });

test('an order with the same data has no difference, and times that differ only by rounding are equal', () => {
  expect(describeDifference({})).toBeUndefined();
  expect(describeDifference({}, [line, other], { created_ms: imported.created_ms + 1 })).toBeUndefined();
  expect(describeDifference({}, [line, other], { created_ms: imported.created_ms - 1 })).toBeUndefined();
});

test.each<[Partial<ImportedOrderFields>, string, string]>([
  [{ created_at: '2024-05-01T10:00:00.002Z' }, 'created_at', '"2024-05-01T10:00:00.002Z" instead of "2024-05-01T10:00:00.000Z"'],
  [{ currency: 'GBP' }, 'currency', '"GBP" instead of "EUR"'],
  [{ shipping_total: 0 }, 'shipping_total', '0 instead of 100'],
  [{ discount_total: 5 }, 'discount_total', '5 instead of 0'],
  [{ status: 'shipped' }, 'status', '"shipped" instead of "paid"'],
  [{ note: 'New' }, 'note', '"New" instead of empty'],
  [{ delivery: { ...head.delivery, method: 'express' } }, 'delivery_method', '"express" instead of "imported"'],
  [{ delivery: { ...head.delivery, line1: '1 High Street' } }, 'line1', '"1 High Street" instead of empty'],
  [{ delivery: { method: 'imported', recipient_name: 'Ann' } }, 'city', 'empty instead of "London"'],
  [{ customer: 'c-8' }, 'customer', '"c-8" instead of "c-7"'],
])('%j is a difference of the whole order', (changed, field, values) => {
  expect(describeDifference(changed)).toEqual({ at: 0, field, detail: `${field} is ${values}` });
});

test('the customer is compared by key, or else by e-mail address, if the row has one', () => {
  expect(describeDifference({ customer: undefined })).toBeUndefined();
  expect(describeDifference({ customer: undefined, customer_email: 'ben@example.com' })?.detail).toBe(
    'customer is "ben@example.com" instead of "c-7"',
  );
  expect(describeDifference({ customer: undefined, customer_email: undefined })).toBeUndefined();
  expect(describeDifference({}, [line, other], { customers: [] })?.detail).toBe('customer is "c-7" instead of empty');
});

test('for an order that was imported before fingerprints existed, only fields that never change are compared', () => {
  const changed = { status: 'shipped', note: 'New', customer: 'c-8', delivery: { method: 'express', recipient_name: 'Ben' } } as const;
  expect(describeDifference(changed, [line, other], { fingerprint: null })).toBeUndefined();
  expect(describeDifference({ ...changed, currency: 'GBP' }, [line, other], { fingerprint: null })?.field).toBe('currency');
});

test.each<[Partial<ImportedOrderLine>, string, string]>([
  [{ sku: 'MUG-2' }, 'sku', '"MUG-2" instead of "MUG-1"'],
  [{ name: 'Cup' }, 'name', '"Cup" instead of "Mug"'],
  [{ quantity: 3 }, 'quantity', '3 instead of 2'],
  [{ unit_price: 0 }, 'unit_price', '0 instead of 500'],
  [{ tax_rate_bps: 700 }, 'tax_rate_bps', '700 instead of 0'],
])('%j is a difference of its line', (changed, field, values) => {
  expect(describeDifference({}, [line, { ...other, ...changed }])).toEqual({ at: 1, field, detail: `${field} of line 2 is ${values}` });
});

test('a new line and a missing line are differences, together with the number of lines', () => {
  expect(describeDifference({}, [line, other, line])).toEqual({
    at: 2,
    detail: 'the number of lines is 3 instead of 2; line 3 is new',
  });
  expect(describeDifference({}, [line])).toEqual({
    at: 0,
    detail: 'the number of lines is 1 instead of 2; line 2 (MUG-1) is missing from the file',
  });
});

test('the first three differences are described, and the others are counted', () => {
  const changed = { currency: 'GBP', shipping_total: 0 };
  expect(describeDifference({ ...changed, discount_total: 5 })?.detail.split('; ')).toEqual([
    'currency is "GBP" instead of "EUR"',
    'shipping_total is 0 instead of 100',
    'discount_total is 5 instead of 0',
  ]);
  const four = describeDifference({ ...changed, discount_total: 5 }, [line, { ...other, quantity: 3 }]);
  expect(four).toEqual({
    at: 1,
    field: 'quantity',
    detail:
      'quantity of line 2 is 3 instead of 2; currency is "GBP" instead of "EUR"; shipping_total is 0 instead of 100; 1 more differences',
  });
});
