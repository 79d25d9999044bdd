import {
  orderDeliveryInputSchema,
  timestampInputSchema,
  singleLineInputSchema,
  lengthLimitedTextSchema,
  maxOrderLines,
  maxPrice,
  maxLineQuantity,
} from '@mandate/contract';
import { z } from 'zod';
import {
  parseAmountCell,
  validateImportRow,
  parseIntegerCell,
  parseTimestampCell,
  type RowError,
} from '../imports/parse-import-cells-and-validate-row.ts';
import type { OrderImportParams } from './order-import-parameters.ts';

type Cells = ReadonlyMap<string, string>;

const minorUnits = z.number({ invalid_type_error: 'must be an amount of the currency' }).int().min(0);
const wholeNumber = z.number({ invalid_type_error: 'must be a whole number' }).int();

const orderLineSchema = z.object({
  sku: z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/, 'must be 1 to 64 printable ASCII characters'),
  name: singleLineInputSchema(200, 0),
  quantity: wholeNumber.min(1).max(maxLineQuantity),
  unit_price: minorUnits.max(maxPrice),
  tax_rate_bps: wholeNumber.min(0).max(10_000).default(0),
});
export type ImportedOrderLine = z.output<typeof orderLineSchema>;

const orderHeadSchema = z.object({
  reference: lengthLimitedTextSchema(64),
  created_at: timestampInputSchema,
  status: z.enum(['paid', 'shipped', 'delivered', 'canceled']).default('delivered'),
  currency: z
    .string({ required_error: 'The row has no currency, and the import does not specify one.' })
    .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code'),
  shipping_total: minorUnits.default(0),
  discount_total: minorUnits.default(0),
  note: lengthLimitedTextSchema(1000).optional(),
  customer: lengthLimitedTextSchema(200).optional(),
  customer_name: singleLineInputSchema(200).optional(),
  customer_email: z
    .string()
    .regex(/^[^\s@]{1,64}@[^\s@]+\.[^\s@]+$/, 'must be an e-mail address')
    .max(254)
    .optional(),
  delivery: orderDeliveryInputSchema,
});
export type ImportedOrderFields = z.output<typeof orderHeadSchema>;

/** Parses an order line from its row, or returns the errors. */
export function parseOrderLineFromRow(params: OrderImportParams, cells: Cells): { data: ImportedOrderLine } | { errors: RowError[] } {
  const sku = cells.get(params.sku_column);
  const validated = validateImportRow(orderLineSchema, {
    sku,
    // The SKU is used if there is no name.
    name: cells.get(params.name_column)?.replaceAll(/\s+/g, ' ') ?? sku,
    quantity: parseIntegerCell(cells.get(params.quantity_column)),
    unit_price: parseAmountCell(cells.get(params.unit_price_column), params.amounts, currencyFromCells(params, cells)),
    tax_rate_bps: parseIntegerCell(cells.get(params.tax_rate_bps_column)),
  });
  if ('data' in validated && validated.data.unit_price === 0 && params.free_lines === 'refuse') {
    return { errors: [{ field: 'unit_price', code: 'out_of_range', detail: 'The unit price is zero.' }] };
  }
  return validated;
}

/** Parses the order-level data from one of the order's rows, or returns the errors. */
export function parseOrderFieldsFromRow(params: OrderImportParams, cells: Cells): { data: ImportedOrderFields } | { errors: RowError[] } {
  const cell = (name: keyof OrderImportParams & `${string}_column`): string | undefined => cells.get(params[name]);
  const currency = currencyFromCells(params, cells);
  const address = ['line1', 'line2', 'city', 'region', 'postal_code', 'country'] as const;
  const customer = cell('customer_column');
  return validateImportRow(orderHeadSchema, {
    reference: cell('reference_column'),
    created_at: parseTimestampCell(cell('created_at_column'), params.utc_offset),
    status: cell('status_column'),
    currency,
    shipping_total: parseAmountCell(cell('shipping_total_column'), params.amounts, currency),
    discount_total: parseAmountCell(cell('discount_total_column'), params.amounts, currency),
    note: cell('note_column'),
    customer,
    customer_name: cell('customer_name_column'),
    customer_email: cell('customer_email_column'),
    delivery: {
      method: cell('delivery_method_column') ?? 'imported',
      recipient_name:
        cell('recipient_name_column') ?? cell('customer_name_column') ?? (customer === undefined ? 'Customer' : `Customer ${customer}`),
      ...Object.fromEntries(address.flatMap((name) => (cell(`${name}_column`) === undefined ? [] : [[name, cell(`${name}_column`)]]))),
    },
  });
}

const currencyFromCells = (params: OrderImportParams, cells: Cells): string | undefined =>
  cells.get(params.currency_column) ?? params.currency;

/** Checks an order's number of lines, total and discount, and returns the first error. */
export function findLineCountTotalOrDiscountError(lines: readonly ImportedOrderLine[], head: ImportedOrderFields): RowError | undefined {
  if (lines.length > maxOrderLines) return { code: 'out_of_range', detail: `An order has at most ${maxOrderLines} lines.` };
  const subtotal = lines.reduce((sum, each) => sum + BigInt(each.unit_price) * BigInt(each.quantity), 0n);
  // The subtotal is doubled, because the tax added to it can be as high as the subtotal itself.
  if (2n * subtotal + BigInt(head.shipping_total) > BigInt(Number.MAX_SAFE_INTEGER)) {
    return { code: 'out_of_range', detail: 'The total is too large.' };
  }
  if (BigInt(head.discount_total) > subtotal)
    return { field: 'discount_total', code: 'out_of_range', detail: 'The discount is larger than the subtotal of the lines.' };
  return undefined;
}
