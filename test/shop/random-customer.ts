import { cancelExpiredOrders } from '../../server/order-lifecycle/cancel-expired-orders.ts';
import { recordExpiredQuotesAndReleaseStock } from '../../server/quotes/record-and-delete-expired-quotes.ts';
import { afterOrderHold, type PaymentTestShop } from '../support/shop/payment-test-shop.ts';
import { pickupDelivery } from '../support/shop/test-shop.ts';
import type { ApiResponse, JsonBody } from '../support/server/start-mandate.ts';

/** A customer's step in the shop. The numbers `a` and `b` select the products, orders and quantities of the step. */
export type Step = { readonly action: Action; readonly a: number; readonly b: number };

export const actions = [
  'place',
  'quote',
  'convert',
  'cancelQuote',
  'expireQuote',
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
type Action = (typeof actions)[number];

/** Runs random steps in a shop with a few products. The shop may reject steps, but a status of 500 or higher is an error. */
export class RandomCustomer {
  readonly #till: PaymentTestShop;
  readonly #products: readonly number[];
  readonly #userId: number;
  readonly #orders: number[];
  readonly #quotes: number[];
  readonly statuses: Record<number, number> = {};

  /** @param shared IDs that concurrent customers share, so that their steps conflict */
  constructor(
    till: PaymentTestShop,
    products: readonly number[],
    userId: number,
    shared: { readonly orders: number[]; readonly quotes: number[] } = { orders: [], quotes: [] },
  ) {
    this.#till = till;
    this.#products = products;
    this.#userId = userId;
    this.#orders = shared.orders;
    this.#quotes = shared.quotes;
  }

  async do({ action, a, b }: Step): Promise<void> {
    if (action === 'expire') return void (await this.#expire());
    const response = await this.#perform(action, a, b);
    if (!response) return;
    this.statuses[response.status] = (this.statuses[response.status] ?? 0) + 1;
    if (response.status >= 500) throw new Error(`${action}: ${response.text}`);
  }

  async #perform(action: Action, a: number, b: number): Promise<ApiResponse | undefined> {
    const product = elementAt(this.#products, a);
    const order = elementAt(this.#orders, b);
    switch (action) {
      case 'place':
        return this.#create('/orders', this.#orders, a, b);
      case 'quote':
        return this.#create('/quotes', this.#quotes, a, b, { hold: b % 2 === 0 });
      case 'receive':
        return this.#till.post(`/products/${product}/stock-adjustments`, { delta: 1 + (b % 5), reason: 'received' });
      case 'damage':
        return this.#till.post(`/products/${product}/stock-adjustments`, { delta: -1 - (b % 3), reason: 'damaged' });
      case 'price':
        return this.#till.mandate.callApi('PATCH', `/api/v1/products/${product}`, {
          token: this.#till.shop.token,
          body: { price: 1 + (b % 900) },
        });
      case 'convert':
      case 'cancelQuote':
      case 'expireQuote':
        return this.#end(action, elementAt(this.#quotes, b));
      default:
        return order === undefined ? undefined : this.#handle(action, order, a);
    }
  }

  /** Converts, cancels or expires a quote, if there is one. */
  async #end(action: Action, quote: number | undefined): Promise<ApiResponse | undefined> {
    if (quote === undefined) return undefined;
    if (action === 'cancelQuote') return this.#till.post(`/quotes/${quote}/cancellation`);
    if (action === 'expireQuote') {
      await this.#expireQuote(quote);
      return undefined;
    }
    const response = await this.#till.post('/orders', { quote_id: quote });
    if (response.status === 201) this.#orders.push(response.body.id);
    return response;
  }

  async #expireQuote(quote: number): Promise<void> {
    const em = this.#till.mandate.db.em.fork();
    await em.execute(`update quotes set expires_at = now() - interval '1 second' where id = ?`, [quote]);
    await recordExpiredQuotesAndReleaseStock(em, new Date());
  }

  async #create(path: string, ids: number[], a: number, b: number, more: object = {}): Promise<ApiResponse> {
    const [first, second] = [elementAt(this.#products, a), elementAt(this.#products, a + b + 1)];
    const items = [
      { product_id: first, quantity: 1 + (b % 3) },
      { product_id: second, quantity: 1 },
    ];
    const response = await this.#till.post(path, {
      user_id: this.#userId,
      items: a % 2 === 0 ? items : items.toReversed(),
      delivery: pickupDelivery,
      ...more,
    });
    if (response.status === 201) ids.push(response.body.id);
    return response;
  }

  async #handle(action: Action, order: number, a: number): Promise<ApiResponse | undefined> {
    switch (action) {
      case 'pay':
        return this.#till.createPayment(order);
      case 'decline':
        return this.#till.createPayment(order, 'test_declined');
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
        return this.#moveShipment(order, action === 'deliver' ? 'delivered' : 'failed');
    }
  }

  async #moveShipment(order: number, status: string): Promise<ApiResponse | undefined> {
    const { data } = await this.#till.get(`/orders/${order}/shipments`);
    const shipped = data.find((shipment: JsonBody) => shipment.status === 'shipped');
    if (!shipped) return undefined;
    return this.#till.mandate.callApi('PATCH', `/api/v1/shipments/${shipped.id}`, { token: this.#till.shop.token, body: { status } });
  }

  async #expire(): Promise<number> {
    return cancelExpiredOrders(this.#till.mandate.db.em.fork(), this.#till.providers, afterOrderHold());
  }
}

const elementAt = <Item>(list: readonly Item[], at: number): Item | undefined => list[at % Math.max(list.length, 1)];
