import type { Client, Order } from '@mandate/client-sdk';
import { mapConcurrently, type OnProgress } from './place-month.ts';
import { type Invoice, type RetailMonth, sum } from './read-month.ts';

export type ImportedMonth = {
  readonly orders: number;
  readonly lines: number;
  readonly customers: number;
  readonly codes: number;
  readonly units: number;
  /** Sum of quantity times unit price over all lines, and sum of the order totals, in pence. */
  readonly revenue: number;
  readonly total: number;
};

/** Column mapping and import rules for the "Online Retail" data set. */
export const onlineRetailRules = {
  reference_column: 'InvoiceNo',
  created_at_column: 'InvoiceDate',
  customer_column: 'CustomerID',
  sku_column: 'StockCode',
  name_column: 'Description',
  quantity_column: 'Quantity',
  unit_price_column: 'UnitPrice',
  amounts: 'decimal',
  currency: 'GBP',
  unknown_customers: 'create',
  unknown_products: 'create',
} as const;

/** Imports the unchanged file and reads all orders of the month. A second import leaves all orders unchanged. */
export async function importMonth(client: Client, month: RetailMonth, onProgress: OnProgress): Promise<ImportedMonth> {
  const started = await client.orderImports.create(
    month.text,
    { source: 'online-retail', ...onlineRetailRules, bad_lines: 'leave_out', free_lines: 'refuse' },
    { contentType: 'text/csv' },
  );
  const task = await client.tasks.wait(started.id, {
    onProgress: ({ progress }) => onProgress('import', progress.processed, progress.total ?? month.lines),
  });
  if (task.status !== 'succeeded') throw new Error(task.error?.detail ?? `the import was ${task.status}`);
  const differing = task.imported?.differing ?? 0;
  if (differing > 0) throw new Error(`${differing} orders already exist with different data`);

  const numbers = new Map(month.invoices.map((invoice) => [invoice.number, invoice]));
  const december = { created_at_gte: '2010-12-01T00:00:00Z', created_at_lt: '2011-01-01T00:00:00Z', limit: 100 } as const;
  const listed = await client.orders.list(december).toArray({ max: 10 * month.invoices.length });
  const found = listed.filter(({ reference }) => reference !== null && numbers.has(reference));
  const orders = await mapConcurrently(found, 'read back', onProgress, async ({ id, reference }) =>
    expectSameLines(numbers.get(reference ?? ''), await client.orders.get(id)),
  );
  const items = orders.flatMap((order) => order.items);
  return {
    orders: orders.length,
    lines: items.length,
    customers: new Set(orders.map((order) => order.user_id)).size,
    codes: new Set(items.map(({ sku }) => sku)).size,
    units: sum(items, ({ quantity }) => quantity),
    revenue: sum(items, ({ quantity, unit_price: price }) => quantity * price),
    total: sum(orders, ({ total }) => total),
  };
}

/** Returns the order if its lines equal the invoice lines. */
function expectSameLines(invoice: Invoice | undefined, order: Order): Order {
  const inFile = invoice?.lines.map(({ code, quantity, price }) => `${quantity} x ${code} at ${price}`);
  const inService = order.items.map(({ sku, quantity, unit_price: price }) => `${quantity} x ${sku} at ${price}`);
  if (inFile?.join('\n') !== inService.join('\n')) throw new Error(`order ${order.id} differs from invoice ${order.reference}`);
  return order;
}
