import { expect } from 'vitest';
import type { Scope } from '@mandate/contract';
import { obtainLimitedTokensOfApplication, type RequestedLimits } from '../oauth/limited-tokens.ts';
import { createWebApplication, obtainTokens, signUp, type TestUser } from '../oauth/oauth-flow.ts';
import type { ApiCallOptions, ApiResponse, JsonBody } from '../server/start-mandate.ts';
import { buildOrderInput, type TestShop } from './test-shop.ts';
import type { RunningServer } from '../server/use-server.ts';

type ShopServer = Pick<RunningServer, 'origin' | 'db' | 'callApi'> & Pick<TestShop, 'createProduct'>;

/** A third-party application that a customer has authorized, and that requests approvals. */
export type RequestingApplication = {
  readonly clientId: string;
  readonly token: string;
  readonly call: (method: string, path: string, options?: Omit<ApiCallOptions, 'token'>) => Promise<ApiResponse>;
  readonly post: (path: string, body?: unknown) => Promise<ApiResponse>;
  /** Creates a quote for one unit of a new product with this price. */
  readonly createQuote: (price: number) => Promise<JsonBody>;
  readonly requestApproval: (quoteId: number) => Promise<ApiResponse>;
  readonly orderFromQuote: (quoteId: number) => Promise<ApiResponse>;
  readonly readBudget: () => Promise<JsonBody>;
};

export const requestingApplicationScopes: readonly Scope[] = [
  'orders.read',
  'orders.write',
  'payments.read',
  'payments.write',
  'events.read',
  'webhooks.write',
];

/** Limits of 50 euros per order and 200 euros per month. */
export const limitsOf50PerOrder: RequestedLimits = {
  limits: { currency: 'EUR', per_order: 5000, per_period: 20_000, period: 'month' },
};

/** Connects an application with these limits to the user's account. */
export async function connectRequestingApplication(
  shop: ShopServer,
  user: Pick<TestUser, 'browser'>,
  details: RequestedLimits | undefined = limitsOf50PerOrder,
  consentForm: Record<string, string> = {},
): Promise<RequestingApplication> {
  const client = await createWebApplication(shop.db, requestingApplicationScopes);
  const tokens = await obtainLimitedTokensOfApplication(shop.origin, user, client, requestingApplicationScopes, details, consentForm);
  return createRequestingApplication(shop, client.clientId, tokens.access_token);
}

/** Returns functions that send requests for an application with this token. */
export function createRequestingApplication(shop: ShopServer, clientId: string, token: string): RequestingApplication {
  const call: RequestingApplication['call'] = (method, path, options) => shop.callApi(method, `/api/v1${path}`, { ...options, token });
  const post: RequestingApplication['post'] = (path, body) => call('POST', path, body === undefined ? {} : { body });
  return {
    clientId,
    token,
    call,
    post,
    async createQuote(price) {
      const quote = await post('/quotes', buildOrderInput([await shop.createProduct({ price }), 1]));
      expect(quote.status, quote.text).toBe(201);
      return quote.body;
    },
    requestApproval: (quoteId) => post('/approvals', { quote_id: quoteId, message: 'The printer needs paper.' }),
    orderFromQuote: (quoteId) => post('/orders', { quote_id: quoteId }),
    readBudget: async () => (await call('GET', '/authorization')).body.budget,
  };
}

/** Requests approval for an order of 60 euros, which exceeds a limit of 50 euros per order. */
export async function requestApprovalOf60(app: RequestingApplication): Promise<JsonBody> {
  const quote = await app.createQuote(6000);
  const requested = await app.requestApproval(quote.id);
  expect(requested.status, requested.text).toBe(201);
  return requested.body;
}

/**
 * Signs up a customer, and connects two applications: one with order limits, and the command-line client, with which the customer decides
 * on approval requests.
 */
export async function connectApplicationAndDecider(shop: ShopServer, details: RequestedLimits = limitsOf50PerOrder) {
  const anna = await signUp(shop.origin);
  const app = await connectRequestingApplication(shop, anna, details);
  const { access_token: token } = await obtainTokens(shop.origin, anna, ['approvals.decide', 'orders.read', 'events.read']);
  const decide = (id: number, decision: 'approval' | 'decline'): Promise<ApiResponse> =>
    shop.callApi('POST', `/api/v1/approvals/${id}/${decision}`, { token });
  return { anna, app, token, decide };
}
