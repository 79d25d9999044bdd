import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cancelExpiredOrders } from '../../../server/order-lifecycle/cancel-expired-orders.ts';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import { obtainLimitedTokens } from '../../support/oauth/limited-tokens.ts';
import { obtainTokens, signUp } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { afterOrderHold, withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop();

/** A step in a random sequence. `order` selects an order by its position, modulo the number of orders. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('place' as const), amount: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('place with approval' as const), amount: fc.integer({ min: 1, max: 300 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pay' as const), order: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), order: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('refund' as const), order: fc.nat(20), amount: fc.integer({ min: 1, max: 30 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('change' as const), limit: fc.integer({ min: 1, max: 200 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('next period' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

type ModelOrder = {
  readonly id: number;
  readonly total: number;
  status: 'pending' | 'paid' | 'canceled';
  refunded: number;
  current: boolean;
  /** Whether the customer approved the order. Approved orders do not count toward the budget. */
  readonly approved: boolean;
};

/** Models the budget as a plain list of orders. */
class BudgetModel {
  limit: number;
  readonly orders: ModelOrder[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  get spent(): number {
    const counted = this.orders.filter(({ status, current, approved }) => current && !approved && status !== 'canceled');
    return counted.reduce((sum, { total, refunded }) => sum + total - refunded, 0);
  }

  add(id: number, total: number, approved: boolean): void {
    this.orders.push({ id, total, status: 'pending', refunded: 0, current: true, approved });
  }

  find(position: number): ModelOrder | undefined {
    return this.orders[position % Math.max(1, this.orders.length)];
  }
}

async function startShopper(limit: number) {
  const { mandate, shop } = till;
  const anna = await signUp(mandate.origin);
  const limits = (perPeriod: number) => ({ limits: { currency: 'EUR', per_period: perPeriod, period: 'month' } });
  const { access_token: token } = await obtainLimitedTokens(
    mandate.origin,
    anna,
    ['orders.write', 'payments.write', 'connected_apps.read'],
    limits(limit),
  );
  const { access_token: manager } = await obtainTokens(mandate.origin, anna, ['connected_apps.write']);
  const connected = await mandate.callApi('GET', '/api/v1/connected-apps', { token });
  const { id } = connected.body.data.find(({ scopes }: { scopes: string[] }) => scopes.includes('orders.write'));
  const product = await shop.createProduct({ price: 1, stock: 1_000_000 });
  const call = (method: string, path: string, body: unknown, as = token): Promise<ApiResponse> =>
    mandate.callApi(method, `/api/v1${path}`, { token: as, body });
  /** Requests approval for a quote, and approves the request as the customer on the account page. Returns the ID of the quote. */
  const obtainApproval = async (order: unknown): Promise<number> => {
    const quote = await call('POST', '/quotes', order);
    const { body: approval } = await call('POST', '/approvals', { quote_id: quote.body.id });
    await submitFormContaining(anna.browser, await anna.browser.open(`/account/approvals/${approval.id}`), 'name="decision"', {
      decision: 'approve',
    });
    return quote.body.id;
  };
  const orderOf = (amount: number) => ({ items: [{ product_id: product.id, quantity: amount }], delivery: pickupDelivery });
  return {
    place: (amount: number) => call('POST', '/orders', orderOf(amount)),
    placeWithApproval: async (amount: number) => call('POST', '/orders', { quote_id: await obtainApproval(orderOf(amount)) }),
    pay: (order: ModelOrder) => call('POST', `/orders/${order.id}/payments`, { provider: 'test', method_token: 'test_ok' }),
    cancel: (order: ModelOrder) => call('POST', `/orders/${order.id}/cancellation`, {}),
    refund: (order: ModelOrder, amount: number) => till.post(`/orders/${order.id}/refunds`, { amount, reason: 'damaged' }),
    change: (perPeriod: number) => call('PUT', `/connected-apps/${id}/limits`, limits(perPeriod), manager),
    spent: async (): Promise<number> => (await mandate.callApi('GET', '/api/v1/authorization', { token })).body.budget.spent,
    startNextPeriod: () =>
      mandate.db.em
        .fork()
        .execute(
          `update budgeted_orders set counted_at = counted_at - interval '32 days' where grant_id = (select grant_id from connections where id = ?)`,
          [id],
        ),
  };
}
type Shopper = Awaited<ReturnType<typeof startShopper>>;

type Outcome = { readonly actual: unknown; readonly expected: unknown };

/** Performs a step on the server and in the model. Returns the server's result and the result that the model expects. */
async function perform(shopper: Shopper, model: BudgetModel, next: Step): Promise<Outcome> {
  switch (next.kind) {
    case 'place':
      return placeOrder(shopper, model, next.amount);
    case 'place with approval': {
      const { status, body } = await shopper.placeWithApproval(next.amount);
      model.add(body.id, next.amount, true);
      return { actual: status, expected: 201 };
    }
    case 'change':
      model.limit = next.limit;
      return { actual: (await shopper.change(next.limit)).status, expected: 200 };
    case 'expire':
      await cancelExpiredOrders(till.mandate.db.em.fork(), till.providers, afterOrderHold());
      for (const order of model.orders) if (order.status === 'pending') order.status = 'canceled';
      break;
    case 'next period':
      await shopper.startNextPeriod();
      for (const order of model.orders) order.current = false;
      break;
    default: {
      const order = model.find(next.order);
      if (order) return performOnOrder(shopper, model, order, next);
    }
  }
  return { actual: undefined, expected: undefined };
}

async function placeOrder(shopper: Shopper, model: BudgetModel, amount: number): Promise<Outcome> {
  const isAllowed = model.spent + amount <= model.limit;
  const { status, body } = await shopper.place(amount);
  if (isAllowed) model.add(body.id, amount, false);
  return { actual: [status, body.code], expected: isAllowed ? [201, undefined] : [403, 'limit_exceeded'] };
}

async function performOnOrder(
  shopper: Shopper,
  model: BudgetModel,
  order: ModelOrder,
  next: Extract<Step, { order: number }>,
): Promise<Outcome> {
  if (next.kind === 'pay') {
    const expected = order.status === 'pending' && (order.approved || model.spent <= model.limit);
    if (expected) order.status = 'paid';
    return { actual: (await shopper.pay(order)).status === 201, expected };
  }
  if (next.kind === 'cancel') {
    const expected = order.status !== 'canceled';
    order.status = 'canceled';
    return { actual: (await shopper.cancel(order)).status === 201, expected };
  }
  const expected = order.status === 'paid' && order.refunded + next.amount <= order.total;
  if (expected) order.refunded += next.amount;
  return { actual: (await shopper.refund(order, next.amount)).status === 201, expected };
}

test('after any sequence of steps, the budget equals that of the model', { timeout: 300_000 }, async () => {
  const sequences = fc.record({ limit: fc.integer({ min: 50, max: 200 }), steps: fc.array(step, { minLength: 5, maxLength: 20 }) });
  await fc.assert(
    fc.asyncProperty(sequences, async ({ limit, steps }) => {
      const [shopper, model] = [await startShopper(limit), new BudgetModel(limit)];
      for (const next of steps) {
        const { actual, expected } = await perform(shopper, model, next);
        expect([next, actual, await shopper.spent()]).toEqual([next, expected, model.spent]);
      }
    }),
    { numRuns: 15, endOnFailure: true },
  );
});
