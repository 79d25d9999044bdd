import { describe, expect, test } from 'vitest';
import { recordExpiredQuotesAndReleaseStock } from '../../../server/quotes/record-and-delete-expired-quotes.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import { changeDatabaseFunction } from '../../support/services/change-database-function.ts';
import { databaseKind } from '../../support/services/database.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write']);

const em = () => shop.db.em.fork();
const post = (path: string, body?: object, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  anna.callApi('POST', `/api/v1${path}`, { headers, ...(body && { body }) });
const createQuote = async (product: JsonBody, quantity: number, more: object = {}): Promise<JsonBody> =>
  (await post('/quotes', { ...buildOrderInput([product, quantity]), ...more })).body;
const convert = ({ id }: JsonBody, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  post('/orders', { quote_id: id }, headers);
const cancel = ({ id }: JsonBody): Promise<ApiResponse> => post(`/quotes/${id}/cancellation`);
const repeat = <Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const countByOutcome = (responses: readonly ApiResponse[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(responses, ({ status, body }) => (status === 201 ? 'created' : body.code))].map(([outcome, group]) => [
      outcome,
      group.length,
    ]),
  );

async function countSoldUnits({ id }: JsonBody): Promise<number> {
  const [row] = await em().execute<{ sold: number }[]>(
    'select coalesce(sum(quantity), 0)::int as sold from order_items where product_id = ?',
    [id],
  );
  return row?.sold ?? -1;
}

/** Changes the database function that places orders while `work` runs. The delay makes transactions overlap. */
async function withoutQuoteLock<Result>(work: () => Promise<Result>): Promise<Result> {
  const restore = await changeDatabaseFunction(em(), 'mandate_place_order', {
    'where id = p_quote_id for update': 'where id = p_quote_id',
    'insert into orders': 'perform pg_sleep(0.05); insert into orders',
  });
  await em().execute('alter table quotes drop constraint quotes_ended_once');
  try {
    return await work();
  } finally {
    await restore();
    await em().execute(
      'alter table quotes add constraint quotes_ended_once check (num_nonnulls(order_id, canceled_at, expiration_reported_at) <= 1) not valid',
    );
  }
}

/** Converts a quote with 64 concurrent requests. Every second request has its own idempotency key. */
async function convertManyTimes(more: object) {
  const product = await shop.createProduct({ stock: 1000 });
  const quote = await createQuote(product, 3, more);
  const responses = await repeat(64, (index) => convert(quote, index % 2 === 0 ? {} : { 'idempotency-key': `${quote.id}-${index}` }));
  return {
    outcomes: countByOutcome(responses),
    soldUnits: await countSoldUnits(product),
    remainingStock: await shop.getStock(product),
    events: await readEventTypes(shop.db, 'quote', quote.id),
  };
}

/**
 * Converts 24 quotes while `end` cancels or expires them. Returns the final events of quotes that ended twice or never, and the number of
 * units that are neither available nor sold.
 */
async function convertWhileEnding(end: (quotes: readonly JsonBody[]) => Promise<unknown>, hold = true) {
  const product = await shop.createProduct({ stock: 1000 });
  const quotes = await repeat(24, () => createQuote(product, 2, { hold }));
  expect(await shop.getStock(product)).toBe(hold ? 952 : 1000);
  const [responses] = await Promise.all([Promise.all(quotes.map((quote) => convert(quote))), end(quotes)]);
  await end(quotes);
  const endings = await Promise.all(quotes.map(async ({ id }) => (await readEventTypes(shop.db, 'quote', id)).slice(1)));
  return {
    outcomes: Object.keys(countByOutcome(responses)).filter((outcome) => !['created', 'quote_not_open'].includes(outcome)),
    contradictions: endings.filter(
      (types, index) => types.length !== 1 || (types[0] === 'quote.converted') !== (responses[index]?.status === 201),
    ),
    missingUnits: 1000 - (await shop.getStock(product)) - (await countSoldUnits(product)),
  };
}
const consistent = { outcomes: [], contradictions: [], missingUnits: 0 };
const expireQuotes = (): Promise<unknown> => recordExpiredQuotesAndReleaseStock(em(), new Date(Date.now() + 16 * 60_000));
const cancelQuotes = (quotes: readonly JsonBody[]): Promise<unknown> => Promise.all(quotes.toReversed().map((quote) => cancel(quote)));

// PGlite runs one transaction at a time.
describe.skipIf(databaseKind === 'pglite')('concurrent requests', () => {
  test.each([
    ['without a hold', {}],
    ['with a hold', { hold: true }],
  ])('64 conversions of a quote %s: exactly one order is placed', async (_name, more) => {
    expect(await convertManyTimes(more)).toEqual({
      outcomes: { created: 1, quote_not_open: 63 },
      soldUnits: 3,
      remainingStock: 997,
      events: ['quote.created', 'quote.converted'],
    });
  });

  test('this test detects a missing lock on the quote', async () => {
    const { outcomes, soldUnits } = await withoutQuoteLock(() => convertManyTimes({ hold: true }));
    expect(outcomes['created']).toBeGreaterThan(1);
    expect(soldUnits).toBeGreaterThan(3);
  });

  test('64 requests with one key create one quote and get one response', async () => {
    const product = await shop.createProduct({ stock: 100 });
    const body = { ...buildOrderInput([product, 1]), hold: true };
    const responses = await repeat(64, () => post('/quotes', body, { 'idempotency-key': 'one-quote' }));
    const created = responses.filter(({ status }) => status === 201);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    expect(countByOutcome(responses)).toEqual({
      created: created.length,
      ...(created.length < 64 && { idempotency_in_progress: 64 - created.length }),
    });
    expect(await shop.getStock(product)).toBe(99);
  });

  test('32 quotes with a hold and 32 orders for 10 units: exactly 10 units are reserved or sold', async () => {
    const product = await shop.createProduct({ stock: 10 });
    const input = buildOrderInput([product, 1]);
    const responses = await repeat(64, (index) => (index % 2 === 0 ? post('/quotes', { ...input, hold: true }) : post('/orders', input)));
    expect([countByOutcome(responses), await shop.getStock(product)]).toEqual([{ created: 10, out_of_stock: 54 }, 0]);
  });

  test('quotes with a hold on the same two products in either order: no deadlock, and correct stock', async () => {
    const [one, two] = [await shop.createProduct({ stock: 64 }), await shop.createProduct({ stock: 40 })];
    const responses = await repeat(64, (index) => {
      const input = index % 2 === 0 ? buildOrderInput([one, 1], [two, 1]) : buildOrderInput([two, 1], [one, 1]);
      return index % 4 < 2 ? post('/quotes', { ...input, hold: true }) : post('/orders', input);
    });
    expect(countByOutcome(responses)).toEqual({ created: 40, out_of_stock: 24 });
    expect([await shop.getStock(one), await shop.getStock(two)]).toEqual([24, 0]);
  });

  test('conversions and the expiry: each quote is either converted or expired, and no unit is lost', async () => {
    expect(await convertWhileEnding(expireQuotes)).toEqual(consistent);
  });

  test('conversions and cancellations: each quote is either converted or canceled, and no unit is lost', async () => {
    expect(await convertWhileEnding(cancelQuotes)).toEqual(consistent);
  });

  test('these two tests detect a missing lock on the quote', async () => {
    // Without the lock, quotes with a hold would cause a deadlock, which would also prevent a quote from ending twice.
    const countContradictions = async (): Promise<number> => (await convertWhileEnding(cancelQuotes, false)).contradictions.length;
    const found = await withoutQuoteLock(async () => {
      // On a busy machine, the requests of one attempt might not overlap.
      for (let attempt = 1; attempt <= 20; attempt += 1) if ((await countContradictions()) > 0) return true;
      return false;
    });
    expect(found).toBe(true);
  });
});
