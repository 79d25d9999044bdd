import type { Client, Order } from '@mandate/client-sdk';
import { sum, type CatalogueItem, type Invoice, type RetailMonth } from './read-month.ts';

export type ProgressPhase = 'import' | 'products' | 'customers' | 'orders' | 'read back';
export type OnProgress = (phase: ProgressPhase, done: number, of: number) => void;

export type PlacedMonth = {
  readonly products: number;
  readonly customers: number;
  readonly orders: number;
  readonly lines: number;
  /** Sum of the order totals, in pence. */
  readonly total: number;
  /** Remaining stock. The initial stock equals the number of units sold. */
  readonly unitsLeft: number;
};

const concurrency = 8;
const category = ({ digest }: RetailMonth): string => `retail-${digest}`;

/** Creates products whose stock equals the number of units sold, places all orders, and reads them. A second run changes nothing. */
export async function placeMonth(client: Client, month: RetailMonth, onProgress: OnProgress): Promise<PlacedMonth> {
  const withKey = (what: string) => ({ idempotencyKey: `${category(month)}-${Buffer.from(what).toString('base64url')}` });

  const productIds = await createAll(
    month.catalogue,
    ({ code }) => code,
    'products',
    onProgress,
    (item) => client.products.create(toProduct(item, month), withKey(`product-${item.code}`)),
  );
  const userIds = await createAll(
    month.customers,
    (number) => number,
    'customers',
    onProgress,
    (number) =>
      client.users.create({ name: `Customer ${number}`, email: `customer-${number}@retail.example` }, withKey(`customer-${number}`)),
  );
  const orderIds = await createAll(
    month.invoices,
    ({ number }) => number,
    'orders',
    onProgress,
    (invoice) =>
      client.orders.create(
        {
          user_id: requireId(userIds, invoice.customer),
          reference: invoice.number,
          items: invoice.lines.map(({ code, quantity }) => ({ product_id: requireId(productIds, code), quantity })),
          delivery: { method: 'collection', recipient_name: `Customer ${invoice.customer}` },
        },
        withKey(`order-${invoice.number}`),
      ),
  );

  const orders = await mapConcurrently(month.invoices, 'read back', onProgress, async (invoice) =>
    expectSameLines(invoice, await client.orders.get(requireId(orderIds, invoice.number))),
  );
  const shop = await client.products.list({ category: category(month), limit: 100 }).toArray({ max: month.catalogue.length + 1 });
  return {
    products: shop.length,
    customers: new Set(orders.map((order) => order.user_id)).size,
    orders: new Set(orders.map((order) => order.id)).size,
    lines: sum(orders, ({ items }) => items.length),
    total: sum(orders, ({ total }) => total),
    unitsLeft: sum(shop, ({ stock }) => stock ?? Number.NaN),
  };
}

const toProduct = ({ code, name, price, sold }: CatalogueItem, month: RetailMonth) => ({
  sku: `${month.digest}/${code}`,
  name,
  category: category(month),
  price,
  currency: 'GBP',
  stock: sold,
  status: 'active' as const,
});

/** Returns the order if its lines equal the invoice lines. */
function expectSameLines(invoice: Invoice, order: Order): Order {
  const expectedLines = invoice.lines.map(({ code, quantity }) => `${quantity} x ${code}`);
  const actualLines = order.items.map(({ sku, quantity }) => `${quantity} x ${sku.slice(sku.indexOf('/') + 1)}`);
  if (order.reference !== invoice.number || expectedLines.join() !== actualLines.join())
    throw new Error(`order ${order.id} differs from invoice ${invoice.number}`);
  return order;
}

async function createAll<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  phase: ProgressPhase,
  onProgress: OnProgress,
  create: (item: Item) => PromiseLike<{ readonly id: number }>,
): Promise<ReadonlyMap<string, number>> {
  return new Map(await mapConcurrently(items, phase, onProgress, async (item) => [nameOf(item), (await create(item)).id] as const));
}

function requireId(ids: ReadonlyMap<string, number>, name: string): number {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`no resource was created for ${name}`);
  return id;
}

/** Processes items concurrently, starting them in order, and returns the results in the order of the items. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  phase: ProgressPhase,
  onProgress: OnProgress,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  let done = 0;
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      results[index] = await work(item);
      onProgress(phase, ++done, items.length);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}
