import { beforeAll } from 'vitest';
import type { Scope } from '@mandate/contract';
import { obtainTokens, signUp, signUpWithRole, type TestUser } from '../oauth/oauth-flow.ts';
import type { ApiCallOptions, ApiResponse } from '../server/start-mandate.ts';
import type { StartOptions } from '../server/start-options.ts';
import { useServer, type RunningServer } from '../server/use-server.ts';
import { createTestShop, type TestShop } from './test-shop.ts';

/** A user with an access token for the command-line client. */
export type Account = TestUser & {
  readonly token: string;
  /** Sends a request with the user's token. */
  callApi(method: string, path: string, call?: Omit<ApiCallOptions, 'token'>): Promise<ApiResponse>;
};

export type Shop = RunningServer &
  TestShop & {
    /** Signs up a customer before the tests, and obtains a token with these scopes. */
    customer(scopes: readonly Scope[]): Account;
    /** Signs up a staff user before the tests, and obtains a token with these scopes. */
    staff(scopes: readonly Scope[]): Account;
    /** Signs up an administrator before the tests, and obtains a token with these scopes. */
    admin(scopes: readonly Scope[]): Account;
  };

type ShopOptions = StartOptions & {
  /** Whether to create the sample data of `createTestShop` (default: true). Without the sample data, the functions of `TestShop` throw. */
  sampleData?: boolean;
};

/**
 * Starts a server with sample data before the tests of a file or `describe` block, and closes it after them:
 *
 *   const shop = withShop();
 *   const anna = shop.customer(['orders.read', 'orders.write']);
 *   test('...', async () => {
 *     const product = await shop.createProduct();                              // sent with `shop.token`, which has all scopes
 *     const order = await shop.placeOrder(anna.token, { product_id: product.id });
 *     expect((await anna.callApi('GET', `/api/v1/orders/${order.id}`)).status).toBe(200);
 *   });
 */
export function withShop({ sampleData = true, ...options }: ShopOptions = {}): Shop {
  const server = useServer(options);
  const sample = setUpBeforeTests('the sample data', async () => (sampleData ? createTestShop(server) : undefined));
  const account = (scopes: readonly Scope[], createUser: () => Promise<TestUser>): Account => {
    const created = setUpBeforeTests('the user', async () => {
      const user = await createUser();
      return { ...user, token: (await obtainTokens(server.origin, user, scopes)).access_token };
    });
    return {
      get id() {
        return created().id;
      },
      get name() {
        return created().name;
      },
      get email() {
        return created().email;
      },
      get password() {
        return created().password;
      },
      get browser() {
        return created().browser;
      },
      get token() {
        return created().token;
      },
      callApi: (method, path, call) => server.callApi(method, path, { ...call, token: created().token }),
    };
  };
  return {
    warnings: server.warnings,
    get origin() {
      return server.origin;
    },
    get db() {
      return server.db;
    },
    callApi: server.callApi,
    get token() {
      return sample().token;
    },
    createProduct: (overrides) => sample().createProduct(overrides),
    getStock: (product) => sample().getStock(product),
    createUser: () => sample().createUser(),
    placeOrder: (...given) => sample().placeOrder(...given),
    customer: (scopes) => account(scopes, () => signUp(server.origin)),
    staff: (scopes) => account(scopes, () => signUpWithRole(server.db, server.origin, 'staff')),
    admin: (scopes) => account(scopes, () => signUpWithRole(server.db, server.origin, 'admin')),
  };
}

/** Runs `setUp` before the tests. The returned function returns its result. */
function setUpBeforeTests<T>(name: string, setUp: () => Promise<T | undefined>): () => T {
  let result: T | undefined;
  beforeAll(async () => {
    result = await setUp();
  });
  return () => {
    if (result === undefined) throw new Error(`${name} does not exist`);
    return result;
  };
}
