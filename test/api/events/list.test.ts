import { beforeAll, describe, expect, test } from 'vitest';
import { assignEventSequenceNumbers } from '../../../server/events/assign-event-sequence-numbers.ts';
import { deleteExpiredEventsBatch } from '../../../server/events/delete-expired-events.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import {
  obtainClientToken,
  createConfidentialClient,
  signUp,
  signUpWithRole,
  obtainTokens,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { runPendingTasks } from '../../support/shop/run-tasks.ts';

const shop = withShop();
let anna: TestUser;

beforeAll(async () => {
  anna = await signUp(shop.origin);
});

const tokenOf = async (person: TestUser, scopes: Parameters<typeof obtainTokens>[2]): Promise<string> =>
  (await obtainTokens(shop.origin, person, scopes)).access_token;
const sequenceEvents = (): Promise<number> => assignEventSequenceNumbers(shop.db.em.fork());
const list = (query = '', token = shop.token): Promise<ApiResponse> => shop.callApi('GET', `/api/v1/events${query}`, { token });
async function getLatestId(): Promise<number> {
  await sequenceEvents();
  return (await list('?limit=1')).body.latest_id;
}
const createOrder = async (userId: number): Promise<JsonBody> =>
  (
    await shop.callApi('POST', '/api/v1/orders', {
      token: shop.token,
      body: { items: [{ product_id: (await shop.createProduct()).id, quantity: 1 }], delivery: pickupDelivery, user_id: userId },
    })
  ).body;
const typesOf = ({ body }: ApiResponse): string[] => body.data.map((event: JsonBody) => event.type);

describe('200', () => {
  test('an event contains its type, its subject and the state of the subject', async () => {
    const after = await getLatestId();
    const product = await shop.createProduct();
    expect((await list(`?after=${after}`)).body.data).toEqual([]);
    await sequenceEvents();
    const { body } = await list(`?after=${after}`);
    expect(body).toEqual({
      data: [
        {
          id: after + 1,
          type: 'product.created',
          api_version: 'v1',
          timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
          user_id: null,
          subject: { type: 'product', id: product.id, version: 1 },
          data: { object: product },
        },
      ],
      has_more: false,
      next_after: after + 1,
      latest_id: after + 1,
    });
    expect((await shop.callApi('GET', `/api/v1/events/${after + 1}`, { token: shop.token })).body).toEqual(body.data[0]);
  });

  test('pages are complete and in order for every page size', async () => {
    const after = await getLatestId();
    const products: JsonBody[] = [];
    for (let i = 0; i < 7; i += 1) products.push(await shop.createProduct());
    await sequenceEvents();
    for (const limit of [1, 3, 7, 100]) {
      const seenIds: number[] = [];
      for (let at = after, more = true; more;) {
        const { body } = await list(`?after=${at}&limit=${limit}`);
        seenIds.push(...body.data.map((event: JsonBody) => event.subject.id));
        [at, more] = [body.next_after, body.has_more];
      }
      expect(seenIds).toEqual(products.map(({ id }) => id));
    }
  });

  test('filters by type and subject, and next_after skips the other events', async () => {
    const after = await getLatestId();
    const [first, second] = [await createOrder(anna.id), await createOrder(anna.id)];
    await shop.callApi('POST', `/api/v1/orders/${first.id}/cancellation`, { token: shop.token, body: {} });
    await sequenceEvents();
    expect(typesOf(await list(`?after=${after}&type=order.created,order.canceled`))).toEqual([
      'order.created',
      'order.created',
      'order.canceled',
    ]);
    expect(typesOf(await list(`?after=${after}&type=order.*`))).toEqual(['order.created', 'order.created', 'order.canceled']);
    expect(typesOf(await list(`?after=${after}&type=order.canceled,product.*`))).toEqual([
      'product.created',
      'product.created',
      'order.canceled',
    ]);
    expect((await list(`?after=${after}&type=orders.*`)).status).toBe(400);
    expect(typesOf(await list(`?after=${after}&subject_type=order&subject_id=${first.id}`))).toEqual(['order.created', 'order.canceled']);
    const { body } = await list(`?after=${after}&subject_type=order&subject_id=${second.id}&limit=1`);
    expect(body).toMatchObject({ data: [{ data: { object: { id: second.id } } }], next_after: body.latest_id });
  });
});

describe('visibility of events', () => {
  test("a customer sees personal events within the token scopes, and the shop's public events", async () => {
    const ben = await signUp(shop.origin);
    const after = await getLatestId();
    await createOrder(anna.id);
    await createOrder(ben.id);
    await shop.createProduct({ status: 'draft' });
    await sequenceEvents();
    const visibleEvents = async (person: TestUser, scopes: Parameters<typeof obtainTokens>[2]): Promise<string[]> => {
      const { body } = await list(`?after=${after}&limit=100`, await tokenOf(person, scopes));
      return body.data
        .map((event: JsonBody) => `${event.type} ${event.user_id ?? 'shop'}`)
        .filter((text: string) => !text.startsWith('grant.'));
    };
    const shopEvents = ['product.created shop', 'product.created shop'];
    expect(await visibleEvents(anna, ['events.read', 'orders.read'])).toEqual([shopEvents[0], `order.created ${anna.id}`, shopEvents[1]]);
    expect(await visibleEvents(anna, ['events.read', 'users.read'])).toEqual(shopEvents);
    expect(await visibleEvents(ben, ['events.read', 'orders.read'])).toEqual([...shopEvents, `order.created ${ben.id}`]);
  });

  test('scopes over all customers are valid for staff and for applications that act for themselves', async () => {
    const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
    const after = await getLatestId();
    await createOrder(anna.id);
    await shop.createProduct({ status: 'draft' });
    await sequenceEvents();
    const scopes = ['events.read', 'orders.manage', 'products.write'] as const;
    const all = ['product.created', 'order.created', 'product.created'];
    expect(typesOf(await list(`?after=${after}`, await tokenOf(staff, scopes)))).toEqual(all);
    const applicationToken = await obtainClientToken(shop.origin, await createConfidentialClient(shop.db, scopes), scopes);
    expect(typesOf(await list(`?after=${after}`, applicationToken))).toEqual(all);
    const limitedToken = await obtainClientToken(shop.origin, await createConfidentialClient(shop.db, ['events.read']), ['events.read']);
    expect(typesOf(await list(`?after=${after}`, limitedToken))).toEqual(['product.created']);
  });

  test('a task event is visible only to the user or application that started the task', async () => {
    const after = await getLatestId();
    const token = await tokenOf(anna, ['tasks.write', 'orders.read']);
    await shop.callApi('POST', '/api/v1/order-exports', { token, body: {} });
    const scopes = ['events.read', 'tasks.read', 'tasks.write', 'orders.read', 'orders.manage'] as const;
    const [one, other] = [await createConfidentialClient(shop.db, scopes), await createConfidentialClient(shop.db, scopes)];
    await shop.callApi('POST', '/api/v1/order-exports', { token: await obtainClientToken(shop.origin, one, scopes), body: {} });
    await runPendingTasks(shop);
    await sequenceEvents();
    const visibleEvents = async (reader: string): Promise<string[]> => typesOf(await list(`?after=${after}&subject_type=task`, reader));
    expect(await visibleEvents(await tokenOf(anna, ['events.read', 'tasks.read', 'orders.read']))).toEqual(['task.succeeded']);
    expect(await visibleEvents(await tokenOf(anna, ['events.read', 'tasks.read']))).toEqual([]);
    expect(await visibleEvents(await obtainClientToken(shop.origin, one, scopes))).toEqual(['task.succeeded']);
    expect(await visibleEvents(await obtainClientToken(shop.origin, other, scopes))).toEqual([]);
  });

  test('GET /events/{event_id} has the same visibility rules', async () => {
    const { id } = await createOrder(anna.id);
    await sequenceEvents();
    const [event] = (await list(`?subject_type=order&subject_id=${id}`)).body.data;
    const status = async (person: TestUser, scopes: Parameters<typeof obtainTokens>[2]): Promise<number> =>
      (await shop.callApi('GET', `/api/v1/events/${event.id}`, { token: await tokenOf(person, scopes) })).status;
    expect(await status(anna, ['events.read', 'orders.read'])).toBe(200);
    expect(await status(anna, ['events.read'])).toBe(404);
    expect(await status(await signUp(shop.origin), ['events.read', 'orders.read'])).toBe(404);
    expect((await shop.callApi('GET', '/api/v1/events/999999999', { token: shop.token })).body.code).toBe('not_found');
  });
});

describe('long polling', () => {
  test('ends with a matching event, but not with an event of another user', async () => {
    const after = await getLatestId();
    const token = await tokenOf(anna, ['events.read', 'orders.read']);
    let hasResponse = false;
    const waiting = list(`?after=${after}&wait=25&type=order.created`, token).finally(() => (hasResponse = true));
    const waitingForAnyUser = list(`?after=${after}&wait=25&type=order.created`);
    await createOrder((await shop.createUser()).id);
    await sequenceEvents();
    expect((await waitingForAnyUser).body.data).toHaveLength(1);
    expect(hasResponse).toBe(false);
    const { id } = await createOrder(anna.id);
    await sequenceEvents();
    expect((await waiting).body).toMatchObject({ data: [{ subject: { id } }], has_more: false });
  });

  test('returns an empty page with next_after after the wait time', async () => {
    const after = await getLatestId();
    const startedAt = performance.now();
    const { body } = await list(`?after=${after}&wait=1`);
    expect(body).toEqual({ data: [], has_more: false, next_after: after, latest_id: after });
    expect(performance.now() - startedAt).toBeGreaterThan(990);
  });

  test('returns a new event to a hundred concurrent requests', async () => {
    const after = await getLatestId();
    const waiting = Array.from({ length: 100 }, () => list(`?after=${after}&wait=25`));
    await shop.createProduct();
    await sequenceEvents();
    for (const { body } of await Promise.all(waiting)) expect(body.data).toHaveLength(1);
  });
});

describe('400, 401, 403 and 410', () => {
  test.each([
    ['?after=-1', 'after'],
    ['?after=x', 'after'],
    ['?after=999999999', 'after'],
    ['?wait=26', 'wait'],
    ['?wait=', 'wait'],
    ['?limit=101', 'limit'],
    ['?type=order.eaten', 'type'],
    ['?subject_type=soul', 'subject_type'],
    ['?subject_id=0', 'subject_id'],
    ['?cursor=x', 'cursor'],
  ])('%s is rejected with 400', async (query, parameter) => {
    const { status, body } = await list(query);
    expect([status, body.code, body.errors[0].parameter]).toEqual([400, 'invalid_request', parameter]);
  });

  test('requires events.read', async () => {
    expect((await shop.callApi('GET', '/api/v1/events')).status).toBe(401);
    expect((await list('', await tokenOf(anna, ['orders.read']))).body.code).toBe('insufficient_scope');
  });

  test('returns 410 for deleted events, and without "after" the remaining events', async () => {
    const after = await getLatestId();
    const [old, keptProduct] = [await shop.createProduct(), await shop.createProduct()];
    await sequenceEvents();
    await shop.db.em.fork().execute(`update events set created_at = now() - interval '31 days' where seq <= ?`, [after + 1]);
    while ((await deleteExpiredEventsBatch(shop.db.em.fork(), new Date())) > 0);
    const goneResponse = await list(`?after=${after}`);
    expect([goneResponse.status, goneResponse.body.code]).toEqual([410, 'gone']);
    expect((await list(`?after=${after + 1}`)).body.data).toMatchObject([{ subject: { id: keptProduct.id } }]);
    expect((await list('?limit=1')).body.data).toMatchObject([{ subject: { id: keptProduct.id } }]);
    expect((await list(`?subject_type=product&subject_id=${old.id}`)).body.data).toEqual([]);
    const { id } = await shop.createProduct();
    await sequenceEvents();
    expect((await list(`?after=${after + 2}`)).body).toMatchObject({ data: [{ id: after + 3, subject: { id } }] });
  });

  test('an event is kept for 30 days, to the millisecond', async () => {
    await shop.createProduct();
    const [now, last] = [new Date(), await getLatestId()];
    const days = 24 * 3_600_000;
    const setAge = (milliseconds: number) =>
      shop.db.em.fork().execute('update events set created_at = ?', [new Date(now.getTime() - milliseconds)]);
    await setAge(30 * days);
    expect(await deleteExpiredEventsBatch(shop.db.em.fork(), now)).toBe(0);
    await setAge(30 * days + 1);
    while ((await deleteExpiredEventsBatch(shop.db.em.fork(), now)) > 0);
    expect((await list('?limit=1')).body.data).toEqual([]);
    expect((await list(`?after=${last - 1}`)).status).toBe(410);
  });
});
