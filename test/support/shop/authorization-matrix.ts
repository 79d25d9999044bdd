import { isApiKeyScope, scopeDefinitions, scopeNames } from '@mandate/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { testCollectionOperations } from '../api-assertions/collection-assertions.ts';
import { testDeclaredProblems } from '../api-assertions/problem-assertions.ts';
import { createExpiredAndRevokedKeys, type ProblemInputs, type ValidRequest } from '../api-assertions/provoke-problems.ts';
import { testIdempotentReplays } from '../api-assertions/replay-assertions.ts';
import { obtainTokens } from '../oauth/oauth-flow.ts';
import type { JsonBody } from '../server/start-mandate.ts';
import { unlimitedRates } from '../server/start-options.ts';
import { withShop, type Account, type Shop } from './with-shop.ts';

/**
 * `withoutScope`: the owner, with a token that lacks the required scope. `otherCustomer`: another customer with all customer scopes.
 * `apiKey`: an API key that belongs to the owner, with all scopes that a key can have.
 */
const callers = ['anonymous', 'withoutScope', 'otherCustomer', 'owner', 'staff', 'admin', 'application', 'apiKey'] as const;
export type Caller = (typeof callers)[number];
/** The expected status for each kind of caller, in the order of `callers`. */
export type Statuses = readonly [number, number, number, number, number, number, number, number];
export type RequestParts = readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];

/** A server with sample data, and a token for each kind of caller. */
type AuthorizationFixture = {
  readonly shop: Shop;
  readonly owner: Account;
  readonly tokens: Readonly<Partial<Record<Caller, string>>>;
  /** Creates a resource with the given token (default: the shop's token), and returns the response body. */
  readonly createResource: (method: string, path: string, body: unknown, token?: string) => Promise<JsonBody>;
};

/** A request that succeeds for at least one caller, and the expected status for each kind of caller, keyed by operation. */
export type AuthorizationRows = Record<
  string,
  { send: (fixture: AuthorizationFixture) => Promise<RequestParts> | RequestParts; statuses: Statuses }
>;

export const publicStatuses: Statuses = [200, 200, 200, 200, 200, 200, 200, 200];
export const ownerStatuses: Statuses = [401, 403, 404, 200, 200, 200, 200, 200];
export const ownerListStatuses: Statuses = [401, 403, 403, 200, 200, 200, 200, 200];
export const ownerCreateStatuses: Statuses = [401, 403, 404, 201, 201, 201, 201, 201];
export const staffStatuses = (status: number): Statuses => [401, 403, 403, 403, status, status, status, 403];
/** API keys and applications that act on their own behalf are rejected, because they act without a signed-in administrator. */
export const signedInAdministratorStatuses = (status: number): Statuses => [401, 403, 403, 403, 403, status, 403, 403];
export const administratorStatuses = (status: number): Statuses => [401, 403, 403, 403, 403, status, status, 403];

/**
 * Defines tests that call these operations as every kind of caller, and tests that provoke every declared problem. All tests in the file
 * can use the returned server and its sample data.
 */
export function testAuthorization(rows: AuthorizationRows): AuthorizationFixture {
  const rateLimits = { ...unlimitedRates };
  const shop = withShop({ rateLimits, previewVersions: true, hasBackupDirectory: true, onLogLine: () => undefined });
  const formerAdmin = shop.admin(scopeNames.filter((name) => scopeDefinitions[name].admin));
  const fixture = useCallers(shop);
  let usersReadToken: string;
  let ordersReadToken: string;
  let problemInputs: Omit<ProblemInputs, 'scopeless'>;
  beforeAll(async () => {
    const tokenOf = async (scope: 'users.read' | 'orders.read'): Promise<string> =>
      (await obtainTokens(shop.origin, fixture.owner, [scope])).access_token;
    [usersReadToken, ordersReadToken] = [await tokenOf('users.read'), await tokenOf('orders.read')];
    problemInputs = await createProblemInputs(fixture, formerAdmin);
  });

  /** Returns a valid token whose scope does not permit the operation. */
  const tokenWithoutScope = (operation: string): string => (operation.startsWith('users.') ? ordersReadToken : usersReadToken);

  const successfulCallers = (operation: string): Caller[] =>
    (['owner', 'admin', 'application'] as const).filter((name) => (rows[operation]?.statuses[callers.indexOf(name)] ?? 400) < 300);

  const requestAs = async (operation: string, caller: Caller): Promise<ValidRequest> => {
    const row = rows[operation];
    if (!row) throw new Error(`${operation} has no row`);
    const [method, path, body, headers = {}] = await row.send(fixture);
    return { method, path: versionedPath(operation, path), body, headers, token: fixture.tokens[caller] ?? '' };
  };

  /** Returns a request from a caller with sufficient permissions. */
  const validRequest = (operation: string): Promise<ValidRequest> => requestAs(operation, successfulCallers(operation)[0] ?? 'owner');

  describe.each(Object.entries(rows))('%s', (operation, { send, statuses }) => {
    test.each(callers.map((caller, index) => [caller, statuses[index]] as const))('%s receives status %i', async (caller, status) => {
      const token = caller === 'withoutScope' ? tokenWithoutScope(operation) : fixture.tokens[caller];
      const [method, path, body, headers = {}] = await send(fixture);
      const response = await shop.callApi(method, versionedPath(operation, path), {
        ...(token !== undefined && { token }),
        ...(body !== undefined && { body }),
        headers,
      });
      expect([response.status, response.text]).toEqual([status, expect.any(String)]);
    });
  });

  test.each(Object.keys(rows))('%s rejects a parameter that the contract does not declare', async (operation) => {
    const { method, path, ...call } = await validRequest(operation);
    const separator = path.includes('?') ? '&' : '?';
    const { status, body } = await shop.callApi(method, `${path}${separator}no_such_parameter=true`, call);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.errors).toEqual([expect.objectContaining({ in: 'query', parameter: 'no_such_parameter', code: 'unknown_parameter' })]);
  });

  const mandate = (): Shop => shop;
  testCollectionOperations(Object.keys(rows), { mandate, validRequest });
  testIdempotentReplays(Object.keys(rows), {
    mandate,
    validRequests: async (operation) => {
      const requests: ValidRequest[] = [];
      for (const caller of successfulCallers(operation)) requests.push(await requestAs(operation, caller));
      return requests;
    },
  });
  testDeclaredProblems(Object.keys(rows), {
    mandate,
    rateLimits,
    validRequest,
    spoilers: (operation) => ({ ...problemInputs, scopeless: tokenWithoutScope(operation) }),
  });
  return fixture;
}

/** Signs up a user for each kind of caller before the tests, and obtains their tokens. */
function useCallers(shop: Shop): AuthorizationFixture {
  const customerScopes = scopeNames.filter((name) => !scopeDefinitions[name].admin);
  const owner = shop.customer(customerScopes);
  const otherCustomer = shop.customer(customerScopes);
  const staff = shop.staff(scopeNames);
  const admin = shop.admin(scopeNames);
  const tokens: Partial<Record<Caller, string>> = {};
  const createResource = async (method: string, path: string, body: unknown, token: string = shop.token): Promise<JsonBody> => {
    const response = await shop.callApi(method, `/api/v1${path}`, { token, body });
    if (response.status >= 300) throw new Error(response.text);
    return response.body;
  };
  beforeAll(async () => {
    const apiKeyScopes = customerScopes.filter(isApiKeyScope);
    tokens.owner = owner.token;
    tokens.otherCustomer = otherCustomer.token;
    tokens.staff = staff.token;
    tokens.admin = admin.token;
    tokens.application = shop.token;
    tokens.apiKey = (await createResource('POST', '/api-keys', { name: 'All of it', scopes: apiKeyScopes }, owner.token)).key;
  });
  return { shop, owner, tokens, createResource };
}

/** Creates the tokens and the cursor that every operation must reject. */
async function createProblemInputs({ shop, owner }: AuthorizationFixture, formerAdmin: Account): Promise<Omit<ProblemInputs, 'scopeless'>> {
  for (const _ of [1, 2]) await shop.createProduct();
  const { body: products } = await shop.callApi('GET', '/api/v1/products?limit=1');
  await shop.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [formerAdmin.id]);
  return {
    formerStaffToken: formerAdmin.token,
    ...(await createExpiredAndRevokedKeys(shop, owner.token)),
    foreignCursor: products.next_cursor,
  };
}

function versionedPath(operation: string, path: string): string {
  if (path === '') return '/api';
  return `/api/${operation.startsWith('v2 ') ? 'v2' : 'v1'}${path}`;
}
