import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contract } from '@mandate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ReferenceGraph } from './reference-graph.ts';

const root = join(import.meta.dirname, '../..');
const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
const routesFile = 'server/order-lifecycle/order-routes.ts';
const refreshFile = 'server/oauth/refresh/refresh-token-grant.ts';

/** Returns the names of all functions in a walkthrough, that is, the camelCase words in code style. */
function functionsNamedIn(heading: string): string[] {
  const [, text = ''] = new RegExp(`^${heading}.*\\n\\n((?:\\d+\\. .*\\n+)+)`, 'm').exec(architecture) ?? [];
  return [...new Set([...text.matchAll(/`([a-z]+[A-Z]\w*)`/g)].map(([, name = '']) => name))];
}

const placeOrderSteps = functionsNamedIn('`POST /api/v1/orders`');
const refreshSteps = functionsNamedIn('`POST /oauth/token` with a refresh token');

const isHandlerName = (name: string): boolean => /^handle[A-Z]/.test(name);
const missing = (names: readonly string[], reached: ReadonlySet<string>): string[] => names.filter((name) => !reached.has(name));

describe('the TypeScript compiler can follow the walkthroughs in ARCHITECTURE.md', { timeout: 120_000 }, () => {
  let graph: ReferenceGraph;
  beforeAll(() => {
    graph = new ReferenceGraph(root, ['server/app/app.ts']);
  }, 120_000);
  afterAll(() => graph.close());

  test('placing an order: from the application to each function that the walkthrough names', () => {
    expect(placeOrderSteps.length).toBeGreaterThan(8);
    expect(missing(placeOrderSteps, graph.reachableNames('server/app/app.ts', 'createApp'))).toEqual([]);
  });

  test('placing an order: from the route to the statement that calls the SQL function', () => {
    const handlers = [
      'handleCreateOrder',
      'createResourceIdempotentlyInStatement',
      'placeOrder',
      'callPlaceOrderSqlFunction',
      'problemFromOrderRejection',
    ];
    const reached = graph.reachableNames(routesFile, 'orderRoutes', 'create');
    expect(missing(handlers, reached)).toEqual([]);
    expect(reached.has('handleCancelOrder')).toBe(false);
    expect(placeOrderSteps).toEqual(expect.arrayContaining(handlers));
  });

  test('refreshing a token: from the authorization server to each function that the walkthrough names', () => {
    expect(refreshSteps.length).toBeGreaterThan(10);
    const reached = graph.reachableNames('server/oauth/authorization-server.ts', 'createAuthorizationServer');
    expect(missing(refreshSteps, reached)).toEqual([]);
  });

  test.each([
    [
      'createRefreshRequestMiddleware',
      ['prefetchClientAndLimitSecretAttempts', 'runRequestInTransaction', 'commitRevocation', 'auditTokenReuse'],
    ],
    ['exchangeOrReplayRefreshToken', ['lockRefreshToken', 'findStoredResponse', 'storeResponse']],
  ])('refreshing a token: from %s to its steps', (name, steps) => {
    expect(missing(steps, graph.reachableNames(refreshFile, name))).toEqual([]);
    expect(refreshSteps).toEqual(expect.arrayContaining([name, ...steps]));
  });

  test('every route of the contract leads to a named handler', () => {
    const file = 'server/app/resource-routes.ts';
    const source = readFileSync(join(root, file), 'utf8');
    const unnamed = Object.entries<object>(contract).flatMap(([resource, routes]) => {
      const [, table = '', path = ''] = new RegExp(`^export \\{ (\\w+) as ${resource} \\} from '\\.\\./(.+)';$`, 'm').exec(source) ?? [];
      const handlersOf = (route: string): string[] => [...graph.reachableNames(`server/${path}`, table, route)].filter(isHandlerName);
      return Object.keys(routes).flatMap((route) => (handlersOf(route).length === 1 ? [] : [`${resource}.${route}`]));
    });
    expect(unnamed).toEqual([]);
  });
});

test('a step that is reachable only through a computed name is reported', { timeout: 120_000 }, () => {
  const original = readFileSync(join(root, routesFile), 'utf8');
  const call = 'handleCreateOrder(dependencies, request, request.body)';
  expect(original.split(call)).toHaveLength(2);
  const planted = original
    .replace(call, `handlers['handle' + 'CreateOrder'](dependencies, request, request.body)`)
    .replace(/\s+handleCreateOrder,/, '')
    .replace(`import { initServer }`, `import * as handlers from './order-handlers.ts';\nimport { initServer }`);
  const graph = new ReferenceGraph(root, [routesFile], { [routesFile]: planted });
  const reached = graph.reachableNames(routesFile, 'orderRoutes');
  graph.close();
  expect(missing(['handleCreateOrder', 'handleGetOrder', 'placeOrder'], reached)).toEqual(['handleCreateOrder', 'placeOrder']);
});
