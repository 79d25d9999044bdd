import { describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { assignEventSequenceNumbers } from '../../../server/events/assign-event-sequence-numbers.ts';
import { obtainLimitedTokensOfApplication, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { createWebApplication, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const scopes: Scope[] = ['orders.read', 'orders.write', 'events.read'];

/** Connects a new third-party application, and returns functions that send requests with its token. */
async function connect(user: TestUser, details: RequestedLimits) {
  const client = await createWebApplication(shop.db, scopes);
  const { access_token: token } = await obtainLimitedTokensOfApplication(shop.origin, user, client, scopes, details);
  const call = (method: string, path: string, body?: object): Promise<ApiResponse> =>
    shop.callApi(method, `/api/v1${path}`, { token, ...(body && { body }) });
  return {
    call,
    quote: async (): Promise<JsonBody> => (await call('POST', '/quotes', buildOrderInput([await shop.createProduct(), 1]))).body,
    /** Returns the type and the quote ID of each event that the application can read. */
    quoteEvents: async (): Promise<[string, number][]> => {
      await assignEventSequenceNumbers(shop.db.em.fork());
      const { body } = await call('GET', '/events?type=quote.*&limit=100');
      return body.data.map(({ type, subject }: JsonBody) => [type, subject.id]);
    },
  };
}

describe('an application that can access only its own orders', () => {
  test('finds only the quotes that it requested, and cannot convert or cancel others', async () => {
    const anna = await signUp(shop.origin);
    const [one, two] = [await connect(anna, { orders: 'own' }), await connect(anna, { orders: 'own' })];
    const [own, other] = [await one.quote(), await two.quote()];
    const { body } = await one.call('GET', '/quotes?include_total=true');
    expect([body.data.map(({ id }: JsonBody) => id), body.total_count]).toEqual([[own.id], 1]);
    const responses = [await one.call('GET', `/quotes/${other.id}`), await one.call('POST', `/quotes/${other.id}/cancellation`)];
    expect(responses.map(({ body: problem }) => problem.code)).toEqual(['not_found', 'not_found']);
    const converted = await one.call('POST', '/orders', { quote_id: other.id });
    expect([converted.status, converted.body.errors]).toMatchObject([400, [{ pointer: '#/quote_id', code: 'unknown_reference' }]]);
    expect(await one.quoteEvents()).toEqual([['quote.created', own.id]]);
    expect((await one.call('POST', '/orders', { quote_id: own.id })).status).toBe(201);
    expect(await one.quoteEvents()).toEqual([
      ['quote.created', own.id],
      ['quote.converted', own.id],
    ]);
  });

  test('does not learn which order another application placed from its quote', async () => {
    const anna = await signUp(shop.origin);
    const [app, unrestricted] = [await connect(anna, { orders: 'own' }), await connect(anna, { orders: 'all' })];
    const quote = await app.quote();
    const { body: order } = await unrestricted.call('POST', '/orders', { quote_id: quote.id });
    const reads = [await app.call('GET', `/quotes/${quote.id}`), await unrestricted.call('GET', `/quotes/${quote.id}`)];
    expect(reads.map(({ body }) => [body.status, body.order_id])).toEqual([
      ['converted', null],
      ['converted', order.id],
    ]);
    expect([await app.quoteEvents(), await unrestricted.quoteEvents()]).toEqual([
      [['quote.created', quote.id]],
      [
        ['quote.created', quote.id],
        ['quote.converted', quote.id],
      ],
    ]);
  });
});
