import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';

/** Converts an amount such as `2.55` to pence, without floating-point arithmetic. */
const pence = z
  .string()
  .regex(/^-?\d+(\.\d{1,2})?$/)
  .transform((text) => {
    const [pounds = '', pennies = ''] = text.split('.');
    return Number(pounds + pennies.padEnd(2, '0'));
  });

const rows = z.array(
  z.object({
    InvoiceNo: z.string(),
    StockCode: z.string(),
    Description: z.string(),
    Quantity: z.coerce.number().int(),
    UnitPrice: pence,
    CustomerID: z.string(),
  }),
);
type Row = z.infer<typeof rows>[number];

export type CatalogueItem = { readonly code: string; readonly name: string; readonly price: number; readonly sold: number };
export type Invoice = {
  readonly number: string;
  readonly customer: string;
  /** `price`: unit price on the invoice, in pence. */
  readonly lines: readonly { readonly code: string; readonly quantity: number; readonly price: number }[];
};

export type RetailMonth = {
  /** Decompressed file content. */
  readonly text: Uint8Array<ArrayBuffer>;
  /** Hash of the file, from which idempotency keys are derived, so that a second run uses the same keys. */
  readonly digest: string;
  readonly catalogue: readonly CatalogueItem[];
  readonly customers: readonly string[];
  readonly invoices: readonly Invoice[];
  readonly lines: number;
  /** Amount paid according to the prices on the invoice, in pence. */
  readonly paid: number;
  /** Total at catalogue prices, in pence, computed without the server. */
  readonly expected: number;
};

/** Reads the sales in the "Online Retail" data set, except cancellations, sales to unknown customers and free items. */
export async function readMonth(path: string): Promise<RetailMonth> {
  const file = await readFile(path);
  const text = path.endsWith('.gz') ? gunzipSync(file) : file;
  const all = rows.parse(parse(text, { columns: true, bom: true }));
  const sales = all.filter((row) => !row.InvoiceNo.startsWith('C') && row.CustomerID !== '' && row.Quantity > 0 && row.UnitPrice > 0);
  const catalogue = [...Map.groupBy(sales, (row) => row.StockCode)].map(([code, of]) => catalogueItem(code, of));
  const prices = new Map(catalogue.map(({ code, price }) => [code, price]));
  return {
    text: new Uint8Array(text),
    digest: createHash('sha256').update(text).digest('hex').slice(0, 16),
    catalogue,
    customers: [...new Set(sales.map((row) => row.CustomerID))],
    invoices: [...Map.groupBy(sales, (row) => row.InvoiceNo)].map(([number, of]) => invoice(number, of)),
    lines: sales.length,
    paid: sum(sales, (row) => row.UnitPrice * row.Quantity),
    expected: sum(sales, (row) => (prices.get(row.StockCode) ?? Number.NaN) * row.Quantity),
  };
}

/**
 * Creates a product with its most frequent price, or the lowest of several equally frequent prices, because the price of a product varies
 * within the file.
 */
function catalogueItem(code: string, sales: readonly Row[]): CatalogueItem {
  const frequencies = [...Map.groupBy(sales, (row) => row.UnitPrice)].map(([price, { length }]) => ({ price, length }));
  const [usual] = frequencies.toSorted((a, b) => b.length - a.length || a.price - b.price);
  const name = sales.find((row) => row.Description.trim() !== '')?.Description ?? code;
  return { code, name: name.trim().replaceAll(/\s+/g, ' '), price: usual?.price ?? Number.NaN, sold: sum(sales, (row) => row.Quantity) };
}

const invoice = (number: string, sales: readonly Row[]): Invoice => ({
  number,
  customer: sales[0]?.CustomerID ?? '',
  lines: sales.map((row) => ({ code: row.StockCode, quantity: row.Quantity, price: row.UnitPrice })),
});

export const sum = <Item>(items: readonly Item[], amount: (item: Item) => number): number =>
  items.reduce((total, item) => total + amount(item), 0);
