import type { Scope } from '@mandate/contract';
import { z } from 'zod';
import { obtainLimitedTokensOfApplication, type RequestedLimits } from '../oauth/limited-tokens.ts';
import { createWebApplication, signUp, type TestUser } from '../oauth/oauth-flow.ts';
import type { RunningServer } from '../server/use-server.ts';
import type { ApiResponse, JsonBody } from '../server/start-mandate.ts';
import { pickupDelivery, type TestShop } from './test-shop.ts';

type ShopServer = Pick<RunningServer, 'origin' | 'db' | 'callApi'> & Pick<TestShop, 'createProduct' | 'token'>;

const scopes: readonly Scope[] = ['orders.read', 'orders.write', 'payments.write', 'connected_apps.read'];

/** Creates one product in each of these categories, with a price of one euro. */
export async function createProductsInCategories<Category extends string>(
  shop: ShopServer,
  categories: readonly Category[],
): Promise<Record<Category, number>> {
  const ids = await Promise.all(
    categories.map(async (category) => [category, (await shop.createProduct({ category, price: 100, stock: 1000 })).id] as const),
  );
  return z.custom<Record<Category, number>>().parse(Object.fromEntries(ids));
}

/** Connects a third-party application with these limits. Returns functions that send requests with the application's token. */
export async function connectApplication(
  shop: ShopServer,
  details: RequestedLimits | undefined,
  consentForm: Record<string, string | readonly string[]> = {},
  user?: TestUser,
) {
  const client = await createWebApplication(shop.db, scopes);
  const anna = user ?? (await signUp(shop.origin));
  const tokens = await obtainLimitedTokensOfApplication(shop.origin, anna, client, scopes, details, consentForm);
  const call = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
    shop.callApi(method, `/api/v1${path}`, { token: tokens.access_token, ...(body !== undefined && { body }) });
  return {
    anna,
    client,
    tokens,
    call,
    /** Orders one unit of each product. */
    order: (...productIds: number[]): Promise<ApiResponse> => call('POST', '/orders', buildOrderOf(productIds)),
    quote: async (...productIds: number[]): Promise<JsonBody> => (await call('POST', '/quotes', buildOrderOf(productIds))).body,
    pay: (orderId: number): Promise<ApiResponse> => call('POST', `/orders/${orderId}/payments`, { provider: 'manual' }),
    details: async (): Promise<JsonBody> => (await call('GET', '/authorization')).body.authorization_details[0],
  };
}

/** Returns the body of an order for one unit of each product. */
export const buildOrderOf = (productIds: readonly number[]) => ({
  items: productIds.map((id) => ({ product_id: id, quantity: 1 })),
  delivery: pickupDelivery,
});

/** Returns authorization details that limit orders to these categories. */
export const limitedTo = (...categories: string[]): RequestedLimits => ({ products: { categories } });

/** Moves a product to a different category. */
export async function moveProduct({ callApi, token }: ShopServer, id: number, category: string): Promise<void> {
  const { status, text } = await callApi('PATCH', `/api/v1/products/${id}`, { token, body: { category } });
  if (status !== 200) throw new Error(text);
}

/** Returns the categories for which a page contains a checkbox. */
export const offeredCategories = (page: string): (string | undefined)[] =>
  [...page.matchAll(/name="limit_category"\s+value="([^"]*)"/g)].map(([, category]) => category);
