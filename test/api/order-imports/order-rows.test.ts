import { describe, expect, test } from 'vitest';
import { orderImportTaskParamsSchema } from '../../../server/order-imports/order-import-parameters.ts';
import {
  findLineCountTotalOrDiscountError,
  parseOrderFieldsFromRow,
  parseOrderLineFromRow,
  type ImportedOrderFields,
  type ImportedOrderLine,
} from '../../../server/order-imports/parse-order-row.ts';

const params = (query: object = {}) =>
  orderImportTaskParamsSchema.parse({ source: 'old-shop', format: 'csv', tax_mode: 'inclusive', currency: 'EUR', ...query });
const row = (cells: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(cells).flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])));

const lineCells = { sku: 'TEA-1', name: 'Tea', quantity: '2', unit_price: '500', tax_rate_bps: '2000' };
const parseLine = (cells: Readonly<Record<string, string | undefined>>, query: object = {}) =>
  parseOrderLineFromRow(params(query), row({ ...lineCells, ...cells }));
const line: ImportedOrderLine = { sku: 'TEA-1', name: 'Tea', quantity: 2, unit_price: 500, tax_rate_bps: 2_000 };

/** Returns the field and code of each error. */
const errorsOf = (parsed: ReturnType<typeof parseLine> | ReturnType<typeof parseHead>): string[] =>
  'errors' in parsed ? parsed.errors.map(({ field, code }) => `${field} ${code}`) : [];

describe('the line of an imported order', () => {
  test.each([
    [{}, {}],
    [{ name: undefined }, { name: 'TEA-1' }],
    [{ name: 'Green \n tea' }, { name: 'Green tea' }],
    [{ tax_rate_bps: undefined }, { tax_rate_bps: 0 }],
    [{ tax_rate_bps: '10000' }, { tax_rate_bps: 10_000 }],
    [{ quantity: '100000' }, { quantity: 100_000 }],
    [{ unit_price: '0' }, { unit_price: 0 }],
    [{ unit_price: '999999999' }, { unit_price: 999_999_999 }],
    [{ sku: 'a' }, { sku: 'a' }],
    [{ sku: 'a b' }, { sku: 'a b' }],
    [{ sku: 'x'.repeat(64) }, { sku: 'x'.repeat(64) }],
  ])('is read from %j', (cells, changed) => {
    expect(parseLine(cells)).toEqual({ data: { ...line, ...changed } });
  });

  test.each([
    [{ sku: undefined }, ['sku required', 'name required'], { name: undefined }],
    [{ sku: 'x'.repeat(65) }, ['sku invalid_value'], {}],
    [{ sku: ' a' }, ['sku invalid_value'], {}],
    [{ sku: 'a\u00e9' }, ['sku invalid_value'], {}],
    [{ quantity: undefined }, ['quantity required'], {}],
    [{ quantity: '0' }, ['quantity invalid_value'], {}],
    [{ quantity: '100001' }, ['quantity invalid_value'], {}],
    [{ quantity: '1.5' }, ['quantity invalid_value'], {}],
    [{ unit_price: '-1' }, ['unit_price invalid_value'], {}],
    [{ unit_price: '1000000000' }, ['unit_price invalid_value'], {}],
    [{ tax_rate_bps: '-1' }, ['tax_rate_bps invalid_value'], {}],
    [{ tax_rate_bps: '10001' }, ['tax_rate_bps invalid_value'], {}],
    [{ name: 'x'.repeat(201) }, ['name invalid_value'], {}],
  ])('is rejected with %j', (cells, errors, others) => {
    expect(errorsOf(parseLine({ ...cells, ...others }))).toEqual(errors);
  });

  test('is rejected with an explanation of the cell', () => {
    const detailOf = (cells: Readonly<Record<string, string>>): unknown => {
      const parsed = parseLine(cells);
      return 'errors' in parsed && parsed.errors[0]?.detail;
    };
    expect([detailOf({ unit_price: '5 euros' }), detailOf({ quantity: 'two' }), detailOf({ sku: ' a' })]).toEqual([
      'must be an amount of the currency',
      'must be a whole number',
      'must be 1 to 64 printable ASCII characters',
    ]);
  });

  test('without a price is rejected if the import requires prices', () => {
    expect(parseLine({ unit_price: '0' }, { free_lines: 'refuse' })).toEqual({
      errors: [{ field: 'unit_price', code: 'out_of_range', detail: 'The unit price is zero.' }],
    });
    expect(parseLine({ unit_price: '1' }, { free_lines: 'refuse' })).toEqual({ data: { ...line, unit_price: 1 } });
  });

  test('has a decimal price in the currency of the row or, if it has none, of the import', () => {
    const decimal = { amounts: 'decimal', currency: 'JPY' };
    expect(parseLine({ unit_price: '5.00' }, decimal)).toEqual({ data: { ...line, unit_price: 5 } });
    expect(parseLine({ unit_price: '5.00', currency: 'EUR' }, decimal)).toEqual({ data: line });
  });
});

const headCells = { reference: 'R-1', created_at: '2024-05-01T10:00:00Z' };
const parseHead = (cells: Readonly<Record<string, string | undefined>>, query: object = {}) =>
  parseOrderFieldsFromRow(params(query), row({ ...headCells, ...cells }));
const head: ImportedOrderFields = {
  reference: 'R-1',
  created_at: '2024-05-01T10:00:00.000Z',
  status: 'delivered',
  currency: 'EUR',
  shipping_total: 0,
  discount_total: 0,
  delivery: { method: 'imported', recipient_name: 'Customer' },
};

describe('the fields of an imported order', () => {
  test('have defaults', () => {
    expect(parseHead({})).toEqual({ data: head });
  });

  test('are read from each column', () => {
    const address = { line1: '1 High Street', line2: 'Flat 2', city: 'London', region: 'Kent', postal_code: 'N1', country: 'GB' };
    const cells = { status: 'paid', currency: 'GBP', shipping_total: '100', discount_total: '50', note: 'Ring twice', customer: 'c-7' };
    const customer = { customer_name: 'Ann', customer_email: 'ann@example.com' };
    expect(parseHead({ ...cells, ...customer, ...address, delivery_method: 'express', recipient_name: 'Ben' })).toEqual({
      data: {
        ...head,
        ...cells,
        ...customer,
        shipping_total: 100,
        discount_total: 50,
        delivery: { ...address, method: 'express', recipient_name: 'Ben' },
      },
    });
  });

  test('name the customer as the recipient if the row names none', () => {
    const recipientOf = (cells: Readonly<Record<string, string>>): unknown => {
      const parsed = parseHead(cells);
      return 'data' in parsed && parsed.data.delivery.recipient_name;
    };
    expect([recipientOf({ customer: 'c-7' }), recipientOf({ customer: 'c-7', customer_name: 'Ann' })]).toEqual(['Customer c-7', 'Ann']);
  });

  test.each([
    ['2024-05-01', '2024-05-01T00:00:00.000Z'],
    ['2024-05-01 10:20', '2024-05-01T10:20:00.000Z'],
    ['2024-05-01T10:20:30', '2024-05-01T10:20:30.000Z'],
    ['2024-05-01 10:20:30.123456 +02:00', '2024-05-01T08:20:30.123456Z'],
    ['2024-05-01T10:20:30Z', '2024-05-01T10:20:30.000Z'],
  ])('contain the time %s', (text, time) => {
    const parsed = parseHead({ created_at: text });
    expect('data' in parsed && parsed.data.created_at).toBe(time);
  });

  test('contain times without an offset, which are read in the offset of the import', () => {
    const parsed = ['2024-05-01', '2024-05-01 10:20', '2024-05-01 10:20Z'].map((text) =>
      parseHead({ created_at: text }, { utc_offset: '-05:30' }),
    );
    expect(parsed.map((each) => 'data' in each && each.data.created_at)).toEqual([
      '2024-05-01T05:30:00.000Z',
      '2024-05-01T15:50:00.000Z',
      '2024-05-01T10:20:00.000Z',
    ]);
  });

  test.each<[Readonly<Record<string, string | undefined>>, string]>([
    [{ reference: undefined }, 'reference required'],
    [{ reference: 'x'.repeat(65) }, 'reference invalid_value'],
    [{ created_at: undefined }, 'created_at required'],
    [{ created_at: '01.05.2024' }, 'created_at invalid_value'],
    [{ created_at: 'x2024-05-01' }, 'created_at invalid_value'],
    [{ created_at: '2024-05-01x' }, 'created_at invalid_value'],
    [{ created_at: '2024-05-01 10' }, 'created_at invalid_value'],
    [{ status: 'pending' }, 'status invalid_value'],
    [{ currency: 'eur' }, 'currency invalid_value'],
    [{ currency: 'EURO' }, 'currency invalid_value'],
    [{ currency: 'xEUR' }, 'currency invalid_value'],
    [{ shipping_total: '-1' }, 'shipping_total invalid_value'],
    [{ discount_total: '1.5' }, 'discount_total invalid_value'],
    [{ note: 'x'.repeat(1_001) }, 'note invalid_value'],
    [{ customer: 'x'.repeat(201), recipient_name: 'Ann' }, 'customer invalid_value'],
    [{ customer_email: 'ann@example' }, 'customer_email invalid_value'],
    [{ customer_email: 'ann @example.com' }, 'customer_email invalid_value'],
    [{ customer_email: 'ann@example.com x' }, 'customer_email invalid_value'],
    [{ customer_email: `${'a'.repeat(65)}@example.com` }, 'customer_email invalid_value'],
    [{ customer_email: `a@${'b'.repeat(250)}.com` }, 'customer_email invalid_value'],
    [{ country: 'Britain' }, 'delivery.country invalid_value'],
  ])('are rejected with %j', (cells, error) => {
    expect(errorsOf(parseHead(cells))).toEqual([error]);
  });

  test('require a currency of the row or of the import', () => {
    expect(parseHead({}, { currency: undefined })).toEqual({
      errors: [{ field: 'currency', code: 'required', detail: 'The row has no currency, and the import does not specify one.' }],
    });
  });
});

describe('an imported order', () => {
  const linesOf = (count: number): ImportedOrderLine[] => Array.from({ length: count }, () => line);

  test('has at most 2,000 lines', () => {
    expect(findLineCountTotalOrDiscountError(linesOf(2_000), head)).toBeUndefined();
    expect(findLineCountTotalOrDiscountError(linesOf(2_001), head)).toEqual({
      code: 'out_of_range',
      detail: 'An order has at most 2000 lines.',
    });
  });

  test('has a discount that does not exceed its subtotal', () => {
    expect(findLineCountTotalOrDiscountError([line], { ...head, discount_total: 1_000 })).toBeUndefined();
    expect(findLineCountTotalOrDiscountError([line], { ...head, discount_total: 1_001 })).toEqual({
      field: 'discount_total',
      code: 'out_of_range',
      detail: 'The discount is larger than the subtotal of the lines.',
    });
  });

  test('has a total that is exact, even if the tax is as high as the subtotal', () => {
    const largest = { ...line, quantity: 1, unit_price: (Number.MAX_SAFE_INTEGER - 1) / 2 };
    expect(findLineCountTotalOrDiscountError([largest], { ...head, shipping_total: 1 })).toBeUndefined();
    expect(findLineCountTotalOrDiscountError([largest], { ...head, shipping_total: 2 })).toEqual({
      code: 'out_of_range',
      detail: 'The total is too large.',
    });
  });
});
