import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { ApiError, createClient, type Order } from '@mandate/client-sdk';
import { createMockData, createMockHandlers, createMockProblem, type MockData } from '@mandate/client-sdk/mocks';
import { mockProblems, mockResponses } from '../../client-sdk/generated/mock-responses.gen.ts';
import { countPathParameters, expandRouteTable } from '../../client-sdk/core/route-table.ts';
import { routes } from '../../client-sdk/generated/routes.gen.ts';

const baseUrl = 'https://shop.example';
const client = createClient({ baseUrl, auth: 'a token' });
const server = setupServer();

beforeAll(() => server.listen());
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

describe('the mock handlers', () => {
  test.each(expandRouteTable(routes))('respond to $operation with the example of the contract', async (route) => {
    const { resource, name, operation, path, has } = route;
    server.use(...createMockHandlers({ baseUrl }));
    const pathArguments = Array.from({ length: countPathParameters(path) }, () => 7);
    const body = has('file') ? ['sku\n'] : has('json') ? [{}] : [];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every operation is a method
    const resources = client as unknown as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;
    const data = await resources[resource]?.[name]?.(...pathArguments, ...body);
    const expected = mockResponses[operation]?.body;
    expect(has('download') ? await new Response(Object(data).stream).text() : data).toEqual(expected);
  });

  test('respond with data, problems and functions that a test specifies', async () => {
    server.use(
      ...createMockHandlers({
        baseUrl,
        responses: {
          'orders.get': ({ params }) => createMockData('orders.get', { id: Number(params['order_id']), status: 'shipped' }),
          'orders.create': createMockProblem('out_of_stock', { detail: 'Only one is left.' }),
          'orders.update': async ({ request }) => createMockData('orders.update', { note: String(Object(await request.json()).note) }),
          'products.get': createMockData('products.get', { stock: 0 }),
        },
      }),
    );
    expect(await client.orders.get(12)).toMatchObject({ id: 12, status: 'shipped', currency: 'GBP' });
    expect((await client.products.get(1)).stock).toBe(0);
    expect((await client.orders.update(1, { note: 'gift' })).note).toBe('gift');
    const failed = await client.orders
      .create({ items: [], delivery: { method: 'x', recipient_name: 'x' } })
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ApiError);
    expect(failed).toMatchObject({ code: 'out_of_stock', status: 409, message: 'Only one is left.', errors: [{ product_id: 1 }] });
  });

  test('have types for the data and problems of each operation', () => {
    expectTypeOf<MockData<'orders.get'>>().toEqualTypeOf<Order>();
    expectTypeOf<MockData<'tasks.result'>>().toEqualTypeOf<string>();
    const mistakes = [
      // @ts-expect-error -- an order has no such status
      () => createMockData('orders.get', { status: 'lost' }),
      // @ts-expect-error -- there is no such code
      () => createMockProblem('no_such_code'),
      // @ts-expect-error -- not a code of this operation
      () => createMockHandlers({ baseUrl, responses: { 'orders.get': createMockProblem('sku_taken') } }),
      // @ts-expect-error -- there is no such operation
      () => createMockHandlers({ baseUrl, responses: { 'orders.destroy': undefined } }),
    ];
    expect(mistakes).toHaveLength(4);
  });

  test('have a status for every problem', () => {
    expect(Object.values(mockProblems).every(({ status }) => Number(status) >= 400)).toBe(true);
    expect(Object.keys(mockProblems).length).toBeGreaterThan(40);
  });
});
