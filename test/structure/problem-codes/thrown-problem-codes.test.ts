import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contract, contractV2, getRouteMetadata, problemCodesOfResponse } from '@mandate/contract';
import { isAppRouteOtherResponse, type AppRoute } from '@ts-rest/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ReferenceGraph } from '../reference-graph.ts';
import { dynamicCode, ThrownProblemCodes } from './thrown-problem-codes.ts';

const root = join(import.meta.dirname, '../../..');
const timeout = 120_000;

type RouteInTable = {
  readonly name: string;
  readonly declaration: AppRoute;
  readonly file: string;
  readonly table: string;
  readonly key: string;
};

/** Returns all routes, each with the table that maps it to its handler. */
function listRoutesWithTables(): RouteInTable[] {
  const source = readFileSync(join(root, 'server/app/resource-routes.ts'), 'utf8');
  const routesOf = (routes: object, table: string, file: string, version = ''): RouteInTable[] =>
    Object.entries<AppRoute>({ ...routes }).map(([key, declaration]) => {
      const name = `${getRouteMetadata(declaration).operationId}${version}`;
      return { name, declaration, file, table, key };
    });
  return [
    ...Object.entries<object>(contract).flatMap(([resource, routes]) => {
      const [, table = '', path = ''] = new RegExp(`^export \\{ (\\w+) as ${resource} \\} from '\\.\\./(.+)';$`, 'm').exec(source) ?? [];
      return routesOf(routes, table, `server/${path}`);
    }),
    ...routesOf(contractV2.orders, 'orderRoutesV2', 'server/order-lifecycle/order-routes-v2.ts', ' (version 2)'),
  ];
}

const declaredCodes = ({ responses }: AppRoute): Set<string> =>
  new Set(
    Object.entries(responses).flatMap(([status, response]) =>
      Number(status) >= 400 && isAppRouteOtherResponse(response) ? problemCodesOfResponse(response) : [],
    ),
  );

const routes = listRoutesWithTables();

/**
 * Matches the function that renames a problem's fields and rethrows the problem. The search finds the problem code where the problem is
 * first thrown.
 */
const functionsThatRethrow = /> translateProblemToV2$/;

function findUndeclaredCodes(codes: ThrownProblemCodes, route: RouteInTable): string[] {
  const declared = declaredCodes(route.declaration);
  return [...codes.findCodesOfRoute(route.file, route.table, route.key)]
    .filter(([code, path]) => !declared.has(code) && !(code === dynamicCode && functionsThatRethrow.test(path)))
    .map(([code, path]) => `${route.name} does not declare ${code}, which it can throw: ${path}`);
}

/** Problem codes sent by middleware, request validation and the error handler. Handlers can also throw them. */
const codesSentOutsideHandlers = new Set([
  'invalid_request',
  'malformed_json',
  'missing_token',
  'invalid_token',
  'expired_token',
  'revoked_token',
  'insufficient_scope',
  'forbidden',
  'not_acceptable',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'quota_exceeded',
  'internal_error',
  'unavailable',
  'insufficient_storage',
]);

/** Returns whether a call is made outside the handlers: by middleware, by the error handler or for an unknown path. */
const isOutsideHandlers = (call: string): boolean => /^server\/http\/(?:middleware|routing)\//.test(call);

describe('problem codes that the handlers can throw', { timeout }, () => {
  let graph: ReferenceGraph;
  let codes: ThrownProblemCodes;
  beforeAll(() => {
    graph = new ReferenceGraph(root, ['server/app/app.ts']);
    codes = new ThrownProblemCodes(graph);
  }, timeout);
  afterAll(() => graph.close());

  test('each route declares every code that it can throw', () => {
    expect(routes.length).toBeGreaterThan(90);
    expect(routes.flatMap((route) => findUndeclaredCodes(codes, route))).toEqual([]);
  });

  test('the search finds each declared code that nothing else sends', () => {
    const notFound = routes.flatMap((route) => {
      const found = codes.findCodesOfRoute(route.file, route.table, route.key);
      return [...declaredCodes(route.declaration)]
        .filter((code) => !found.has(code) && !codesSentOutsideHandlers.has(code))
        .map((code) => `${route.name}: ${code}`);
    });
    expect(notFound).toEqual([]);
  });

  test('the search reaches each call that creates a problem', () => {
    for (const route of routes) codes.findCodesOfRoute(route.file, route.table, route.key);
    expect(codes.listUnreachedCalls(root).filter((call) => !isOutsideHandlers(call))).toEqual([]);
  });
});

describe('the search finds an undeclared code', { timeout }, () => {
  const file = 'server/delivery-methods/routes.ts';
  const source = readFileSync(join(root, file), 'utf8');
  const line = `  if (!method) throw notFound(code);\n  return respondWithEtag`;
  const planted = (statement: string, declarations = ''): string => {
    expect(source.split(line)).toHaveLength(2);
    return `${source.replace(line, `  ${statement}\n${line}`)}\n${declarations}`;
  };
  const route = routes.find(({ name }) => name === 'deliveryMethods.get');

  /**
   * Copies of the file, each with a planted statement. The compiler reads all copies at once, because reading their imports takes most of
   * the time.
   */
  const copies: Record<string, string> = {};
  const plantInCopy = (statement: string, declarations = ''): string => {
    const copy = file.replace('routes.ts', `routes-${Object.keys(copies).length}.ts`);
    copies[copy] = planted(statement, declarations);
    return copy;
  };
  let graph: ReferenceGraph;
  beforeAll(() => {
    graph = new ReferenceGraph(root, Object.keys(copies), copies);
  }, timeout);
  afterAll(() => graph.close());

  const statements = [
    ['in the handler', `if (code === 'x') throw createProblem('conflict');`, '', 'conflict'],
    ['in a function', 'assertUsable(code);', `const assertUsable = (code: string) => { throw createProblem('conflict'); };`, 'conflict'],
    ['in a method', 'new Check().run();', `class Check { run() { throw createProblem('conflict'); } }`, 'conflict'],
    [
      'with a parameter',
      `fail('conflict');`,
      `const fail = (code: 'not_found' | 'conflict') => { throw createProblem(code); };`,
      'conflict',
    ],
    [
      'with a class',
      `throw new problems.Problem('conflict', {});`,
      `import * as problems from '../http/problem-details/problem.ts';`,
      'conflict',
    ],
    [
      'under another name',
      `throw create('conflict');`,
      `import { createProblem as create } from '../http/problem-details/problem.ts';`,
      'conflict',
    ],
    [
      'that is only known at run time',
      `throw createProblem(String(code) as 'conflict' | ProblemCode);`,
      `import type { ProblemCode } from '@mandate/contract';`,
      dynamicCode,
    ],
    ['in a variable', `const create = createProblem; throw create('conflict');`, '', dynamicCode],
  ].map(([where, statement = '', declarations, code]) => [where, plantInCopy(statement, declarations), code] as const);
  test.each(statements)('%s', (_, copy, code) => {
    const undeclared = route ? findUndeclaredCodes(new ThrownProblemCodes(graph), { ...route, file: copy }) : [];
    expect(undeclared).toEqual([expect.stringContaining(`deliveryMethods.get does not declare ${code}, which it can throw: `)]);
  });

  const copyWithMethod = plantInCopy('if (code === "x") new Check();', `class Check { run() { throw createProblem('conflict'); } }`);
  test('but not in a method that the handler does not reference', () => {
    const codes = new ThrownProblemCodes(graph);
    expect(route ? findUndeclaredCodes(codes, { ...route, file: copyWithMethod }) : undefined).toEqual([]);
    expect(codes.listUnreachedCalls(root)).toContain(`${copyWithMethod}: conflict`);
  });
});
