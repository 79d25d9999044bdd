import type { Client, Order } from '@mandate/client-sdk';
import { sum, type CatalogueItem, type Invoice, type RetailMonth } from './read-month.ts';

export type Stage = 'import' | 'products' | 'customers' | 'orders' | 'read back';
export type OnProgress = (stage: Stage, done: number, of: number) => void;

export type PlacedMonth = {
  readonly products: number;
  readonly customers: number;
  readonly orders: number;
  readonly lines: number;
  /** The totals of all orders as they were read back, in pence. */
  readonly total: number;
  /** Units that the shop has left: it had exactly as many as the month sold. */
  readonly unitsLeft: number;
};

const atOnce = 8;
const category = ({ digest }: RetailMonth): string => `retail-${digest}`;

/** Opens a shop with exactly what the month sold, sells it, and reads every order back. A second time, it changes nothing. */
export async function placeMonth(client: Client, month: RetailMonth, onProgress: OnProgress): Promise<PlacedMonth> {
  const once = (what: string) => ({ idempotencyKey: `${category(month)}-${Buffer.from(what).toString('base64url')}` });

  const productIds = await idsOf(
    month.catalogue,
    ({ code }) => code,
    'products',
    onProgress,
    (item) => client.products.create(toProduct(item, month), once(`product-${item.code}`)),
  );
  const userIds = await idsOf(
    month.customers,
    (number) => number,
    'customers',
    onProgress,
    (number) => client.users.create({ name: `Customer ${number}`, email: `customer-${number}@retail.example` }, once(`customer-${number}`)),
  );
  const orderIds = await idsOf(
    month.invoices,
    ({ number }) => number,
    'orders',
    onProgress,
    (invoice) =>
      client.orders.create(
        {
          user_id: known(userIds, invoice.customer),
          reference: invoice.number,
          items: invoice.lines.map(({ code, quantity }) => ({ product_id: known(productIds, code), quantity })),
          delivery: { method: 'collection', recipient_name: `Customer ${invoice.customer}` },
        },
        once(`order-${invoice.number}`),
      ),
  );

  const orders = await forEach(month.invoices, 'read back', onProgress, async (invoice) =>
    sameAs(invoice, await client.orders.get(known(orderIds, invoice.number))),
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

/** The order as it was read back, if it is what the invoice says, line by line. */
function sameAs(invoice: Invoice, order: Order): Order {
  const asked = invoice.lines.map(({ code, quantity }) => `${quantity} x ${code}`);
  const got = order.items.map(({ sku, quantity }) => `${quantity} x ${sku.slice(sku.indexOf('/') + 1)}`);
  if (order.reference !== invoice.number || asked.join() !== got.join())
    throw new Error(`order ${order.id} is not invoice ${invoice.number}`);
  return order;
}

async function idsOf<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  stage: Stage,
  onProgress: OnProgress,
  create: (item: Item) => PromiseLike<{ readonly id: number }>,
): Promise<ReadonlyMap<string, number>> {
  return new Map(await forEach(items, stage, onProgress, async (item) => [nameOf(item), (await create(item)).id] as const));
}

function known(ids: ReadonlyMap<string, number>, name: string): number {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`nothing was created for ${name}`);
  return id;
}

/** Several at once, in the order of the list, and the results in that order too. */
export async function forEach<Item, Result>(
  items: readonly Item[],
  stage: Stage,
  onProgress: OnProgress,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  let done = 0;
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      results[index] = await work(item);
      onProgress(stage, ++done, items.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
