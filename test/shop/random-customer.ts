import { cancelExpiredOrders } from '../../server/order-lifecycle/expire-orders.ts';
import { later, type Till } from '../support/order-arithmetic.ts';
import { pickup } from '../support/server/shop.ts';
import type { Answer, Body } from '../support/server/start-mandate.ts';

/** One thing that somebody may do in a shop; the numbers choose what it is done to. */
export type Step = { readonly act: Act; readonly a: number; readonly b: number };

export const acts = [
  'place',
  'pay',
  'decline',
  'cancel',
  'refund',
  'ship',
  'deliver',
  'fail',
  'receive',
  'damage',
  'price',
  'expire',
] as const;
type Act = (typeof acts)[number];

/** Does steps in a shop of a few products; what the shop refuses is part of the game, a failure of its own is not. */
export class RandomCustomer {
  readonly #till: Till;
  readonly #products: readonly number[];
  readonly #userId: number;
  readonly #orders: number[];
  readonly statuses: Record<number, number> = {};

  /** @param orders shared by customers who get in each other's way */
  constructor(till: Till, products: readonly number[], userId: number, orders: number[] = []) {
    this.#till = till;
    this.#products = products;
    this.#userId = userId;
    this.#orders = orders;
  }

  async do({ act, a, b }: Step): Promise<void> {
    if (act === 'expire') return void (await this.#expire());
    const answer = await this.#answer(act, a, b);
    if (!answer) return;
    this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
    if (answer.status >= 500) throw new Error(`${act}: ${answer.text}`);
  }

  async #answer(act: Act, a: number, b: number): Promise<Answer | undefined> {
    const product = pick(this.#products, a);
    const order = pick(this.#orders, b);
    switch (act) {
      case 'place':
        return this.#place(a, b);
      case 'receive':
        return this.#till.post(`/products/${product}/stock-adjustments`, { delta: 1 + (b % 5), reason: 'received' });
      case 'damage':
        return this.#till.post(`/products/${product}/stock-adjustments`, { delta: -1 - (b % 3), reason: 'damaged' });
      case 'price':
        return this.#till.mandate.call('PATCH', `/api/v1/products/${product}`, {
          token: this.#till.shop.token,
          body: { price: 1 + (b % 900) },
        });
      default:
        return order === undefined ? undefined : this.#handle(act, order, a);
    }
  }

  async #place(a: number, b: number): Promise<Answer> {
    const [first, second] = [pick(this.#products, a), pick(this.#products, a + b + 1)];
    const items = [
      { product_id: first, quantity: 1 + (b % 3) },
      { product_id: second, quantity: 1 },
    ];
    const answer = await this.#till.post('/orders', {
      user_id: this.#userId,
      items: a % 2 === 0 ? items : items.toReversed(),
      delivery: pickup,
    });
    if (answer.status === 201) this.#orders.push(answer.body.id);
    return answer;
  }

  async #handle(act: Act, order: number, a: number): Promise<Answer | undefined> {
    switch (act) {
      case 'pay':
        return this.#till.pay(order);
      case 'decline':
        return this.#till.pay(order, 'test_declined');
      case 'cancel':
        return this.#till.post(`/orders/${order}/cancellation`, { reason: 'staff' });
      case 'refund':
        return this.#till.post(`/orders/${order}/refunds`, {
          reason: 'damaged',
          ...(a % 3 > 0 && { amount: 1 + (a % 200) }),
          restock: a % 2 === 0 ? [] : [{ line: 1, quantity: 1 }],
        });
      case 'ship':
        return this.#till.post(`/orders/${order}/shipments`, {
          status: 'shipped',
          ...(a % 2 === 0 && { items: [{ line: 1, quantity: 1 }] }),
        });
      default:
        return this.#moveShipment(order, act === 'deliver' ? 'delivered' : 'failed');
    }
  }

  async #moveShipment(order: number, status: string): Promise<Answer | undefined> {
    const { data } = await this.#till.get(`/orders/${order}/shipments`);
    const shipped = data.find((shipment: Body) => shipment.status === 'shipped');
    if (!shipped) return undefined;
    return this.#till.mandate.call('PATCH', `/api/v1/shipments/${shipped.id}`, { token: this.#till.shop.token, body: { status } });
  }

  async #expire(): Promise<number> {
    return cancelExpiredOrders(this.#till.mandate.db.em.fork(), this.#till.providers, later());
  }
}

const pick = <Item>(list: readonly Item[], at: number): Item | undefined => list[at % Math.max(list.length, 1)];
