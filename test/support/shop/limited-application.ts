import type { Scope } from '@mandate/contract';
import { obtainLimitedTokens, type RequestedLimits } from '../oauth/limited-tokens.ts';
import { signUp } from '../oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../server/start-mandate.ts';
import type { PaymentTestShop } from './payment-test-shop.ts';
import { pickupDelivery } from './test-shop.ts';

const scopes: readonly Scope[] = ['orders.read', 'orders.write', 'payments.read', 'payments.write'];

/**
 * Signs up a customer, and connects an application that may place orders for the customer within the given limits.
 * @param consentForm the form fields submitted on the consent page
 */
export async function connectLimitedApplication(
  { mandate, shop }: Pick<PaymentTestShop, 'mandate' | 'shop'>,
  details: RequestedLimits,
  moreScopes: readonly Scope[] = [],
  consentForm: Record<string, string> = {},
) {
  const anna = await signUp(mandate.origin);
  const { access_token: token } = await obtainLimitedTokens(mandate.origin, anna, [...scopes, ...moreScopes], details, consentForm);
  const product = await shop.createProduct({ price: 10, stock: 1_000_000 });
  const call = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
    mandate.callApi(method, path, { token, ...(body !== undefined && { body }) });
  return {
    anna,
    token,
    product,
    call,
    /** Orders `quantity` units at 10 cents each. */
    order: (quantity: number, path = '/api/v1/orders'): Promise<ApiResponse> =>
      call('POST', path, { items: [{ product_id: product.id, quantity }], delivery: pickupDelivery }),
    pay: (orderId: number, method = 'test_ok'): Promise<ApiResponse> =>
      call('POST', `/api/v1/orders/${orderId}/payments`, { provider: 'test', method_token: method }),
    budget: async (): Promise<JsonBody> => (await call('GET', '/api/v1/authorization')).body.budget,
  };
}
