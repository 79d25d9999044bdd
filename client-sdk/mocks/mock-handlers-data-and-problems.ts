import { http, HttpResponse, type HttpHandler } from 'msw';
import type { DownloadedFile } from '../core/downloaded-file.ts';
import { mockProblems, mockResponses } from '../generated/mock-responses.gen.ts';
import type { Problem, Resources } from '../generated/resources.gen.ts';
import type { ProblemsOf } from '../generated/routes.gen.ts';

/** Name of an operation, such as `orders.get`. */
export type OperationId = keyof ProblemsOf;

/** Response body of an operation. */
export type MockData<Id extends OperationId> = Id extends `${infer Resource extends keyof Resources}.${infer Name}`
  ? Resources[Resource][Name & keyof Resources[Resource]] extends (...args: never) => PromiseLike<infer Data>
    ? Data extends DownloadedFile
      ? string
      : Data
    : never
  : never;

/** An error response, created with `createMockProblem`. */
export type MockProblem<Code extends string = string> = { readonly [mockProblemSymbol]: Problem & { readonly code: Code } };

/** Request to a mocked operation. */
export type MockCall = {
  readonly request: Request;
  /** Path parameters, such as `order_id`. */
  readonly params: Readonly<Record<string, string | readonly string[] | undefined>>;
};

type MockResult<Id extends OperationId> = MockData<Id> | MockProblem<keyof ProblemsOf[Id] & string>;

/** Responses by operation: the data, a problem, or a function that returns one of them for each request. */
export type MockResponses = {
  readonly [Id in OperationId]?: MockResult<Id> | ((call: MockCall) => MockResult<Id> | Promise<MockResult<Id>>);
};

export type MockOptions = {
  /** URL of the service, as passed to `createClient`. */
  readonly baseUrl: string;
  /** Responses of individual operations (default: the example in the API reference). */
  readonly responses?: MockResponses | undefined;
};

const mockProblemSymbol: unique symbol = Symbol('mock problem');

/**
 * Creates handlers for Mock Service Worker that respond to every operation. The handlers are stateless: an order that a test creates does
 * not appear in the list of orders.
 *
 * ```ts
 * const server = setupServer(...createMockHandlers({ baseUrl, responses: { 'orders.create': createMockProblem('out_of_stock') } }));
 * ```
 */
export function createMockHandlers({ baseUrl, responses = {} }: MockOptions): HttpHandler[] {
  const overrides = new Map<string, MockResponses[OperationId]>(Object.entries(responses));
  return Object.entries(mockResponses).map(([operation, { route, status, body }]) => {
    const [method = '', path = ''] = route.split(' ');
    const handle = methods[method];
    if (!handle) throw new Error(`${operation} has an unknown method`);
    return handle(baseUrl.replace(/\/+$/, '') + path, async ({ request, params }) => {
      const override = overrides.get(operation);
      const result: unknown = typeof override === 'function' ? await override({ request, params }) : override;
      return isMockProblem(result) ? problemResponse(result) : successResponse(status, result ?? body);
    });
  });
}

const methods: Readonly<Record<string, typeof http.get>> = {
  GET: http.get,
  POST: http.post,
  PUT: http.put,
  PATCH: http.patch,
  DELETE: http.delete,
};

function successResponse(status: number, body: unknown): Response {
  if (body === undefined) return new HttpResponse(null, { status });
  return typeof body === 'string' ? HttpResponse.text(body, { status, headers: { 'content-type': 'text/csv' } }) : json(body, status);
}

const problemResponse = ({ [mockProblemSymbol]: problem }: MockProblem): Response =>
  json(problem, problem.status, 'application/problem+json');

const json = (body: unknown, status: number, contentType = 'application/json'): Response =>
  new HttpResponse(JSON.stringify(body), { status, headers: { 'content-type': contentType } });

const isMockProblem = (value: unknown): value is MockProblem => typeof value === 'object' && value !== null && mockProblemSymbol in value;

/** Returns an operation's example response, in which `changes` replace some fields: `createMockData('orders.get', { status: 'paid' })`. */
export function createMockData<Id extends OperationId>(operation: Id, changes?: Partial<MockData<Id>>): MockData<Id> {
  const body = mockResponses[operation]?.body;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests validate the examples against the contract
  return (typeof body === 'object' ? { ...body, ...changes } : body) as MockData<Id>;
}

type ProblemCode = { [Id in OperationId]: keyof ProblemsOf[Id] & string }[OperationId];

/** Creates an error response: `createMockProblem('out_of_stock', { detail: 'Only one is left.' })`. */
export function createMockProblem<Code extends ProblemCode>(code: Code, changes: Partial<Problem> = {}): MockProblem<Code> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- generated from the same contract as the codes
  return { [mockProblemSymbol]: { ...mockProblems[code], ...changes, code } as Problem & { readonly code: Code } };
}
