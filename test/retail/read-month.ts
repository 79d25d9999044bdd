import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';

/** An amount such as `2.55` in pence, without a detour through fractions that binary numbers cannot hold. */
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
  /** `price`: of the invoice, in pence. */
  readonly lines: readonly { readonly code: string; readonly quantity: number; readonly price: number }[];
};

export type RetailMonth = {
  /** The whole file, unpacked. */
  readonly text: Uint8Array<ArrayBuffer>;
  /** Names the content of the file, so that a second run can repeat what the first one asked for. */
  readonly digest: string;
  readonly catalogue: readonly CatalogueItem[];
  readonly customers: readonly string[];
  readonly invoices: readonly Invoice[];
  readonly lines: number;
  /** What was really paid, with the prices of the day, in pence. */
  readonly paid: number;
  /** What the same lines cost at catalogue prices, in pence: summed here, without the service. */
  readonly expected: number;
};

/** The sales of a file of the "Online Retail" data set: no cancellations, no unknown customers, nothing for nothing. */
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

/** A product has one price at a time here, and had several in the file: the most frequent one, of equals the lowest. */
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
