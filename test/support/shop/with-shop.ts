import { beforeAll } from 'vitest';
import type { User } from '../../../server/users/user.entity.ts';
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

type Role = User['role'];

export type Shop = RunningServer &
  TestShop & {
    /** Signs up a user during a test, and obtains a token with these scopes. */
    createAccount(role: Role, scopes: readonly Scope[]): Promise<Account>;
    /** Signs up a customer before the tests, and obtains a token with these scopes. */
    customer(scopes: readonly Scope[]): Account;
    /** Signs up a staff user before the tests, and obtains a token with these scopes. */
    staff(scopes: readonly Scope[]): Account;
    /** Signs up an administrator before the tests, and obtains a token with these scopes. */
    admin(scopes: readonly Scope[]): Account;
  };

type ShopOptions = StartOptions & {
  /** Whether to create sample data with `createTestShop` (default: true). Without the sample data, the `TestShop` functions throw. */
  sampleData?: boolean;
};

/**
 * Starts a server with sample data before the tests of a file or `describe` block, and closes it after the tests:
 *
 *   const shop = withShop();
 *   const anna = shop.customer(['orders.read', 'orders.write']);
 *   test('...', async () => {
 *     const product = await shop.createProduct();                              // with `shop.token`, which has all scopes
 *     const order = await shop.placeOrder(buildOrderInput([product, 1]), anna.token);
 *     expect((await anna.callApi('GET', `/api/v1/orders/${order.id}`)).status).toBe(200);
 *   });
 */
export function withShop({ sampleData = true, ...options }: ShopOptions = {}): Shop {
  const server = useServer(options);
  const sample = setUpBeforeTests('the sample data', async () => (sampleData ? createTestShop(server) : undefined));
  const createAccount: Shop['createAccount'] = async (role, scopes) => {
    const user = role === 'customer' ? await signUp(server.origin) : await signUpWithRole(server.db, server.origin, role);
    const { access_token: token } = await obtainTokens(server.origin, user, scopes);
    return { ...user, token, callApi: (method, path, call) => server.callApi(method, path, { ...call, token }) };
  };
  const createAccountBeforeTests = (role: Role, scopes: readonly Scope[]): Account => {
    const account = setUpBeforeTests('the user', () => createAccount(role, scopes));
    return {
      get id() {
        return account().id;
      },
      get name() {
        return account().name;
      },
      get email() {
        return account().email;
      },
      get password() {
        return account().password;
      },
      get browser() {
        return account().browser;
      },
      get token() {
        return account().token;
      },
      callApi: (...call) => account().callApi(...call),
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
    createAccount,
    customer: (scopes) => createAccountBeforeTests('customer', scopes),
    staff: (scopes) => createAccountBeforeTests('staff', scopes),
    admin: (scopes) => createAccountBeforeTests('admin', scopes),
  };
}

/** Runs `setUp` before the tests. The returned function returns the result of `setUp`. */
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
