import { initContract, type ContractOtherResponse } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../schema/named-schema.ts';
import { id } from '../schema/ids.ts';
import { amount } from '../schema/money.ts';

const c = initContract();

/** One way a request can fail: the HTTP status and the title that go with its code. */
export type ProblemDeclaration = { readonly status: number; readonly title: string };

/** Failures that belong to no single resource. */
export const commonProblems = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_cursor: { status: 400, title: 'The cursor is not valid' },
  cursor_mismatch: { status: 400, title: 'The cursor belongs to another list' },
  idempotency_key_invalid: { status: 400, title: 'The idempotency key is not valid' },
  missing_token: { status: 401, title: 'An access token is needed' },
  invalid_token: { status: 401, title: 'The access token is not valid' },
  expired_token: { status: 401, title: 'The access token has expired' },
  revoked_token: { status: 401, title: 'The access token has been revoked' },
  insufficient_user_authentication: { status: 401, title: 'A recent sign-in is required' },
  insufficient_scope: { status: 403, title: 'The access token does not allow this' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_found: { status: 404, title: 'Not found' },
  route_not_found: { status: 404, title: 'No such path' },
  method_not_allowed: { status: 405, title: 'The path does not have this method' },
  not_acceptable: { status: 406, title: 'No acceptable form of the answer' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  idempotency_in_progress: { status: 409, title: 'The same request is being carried out' },
  conflict: { status: 409, title: 'Conflict with the current state' },
  invalid_transition: { status: 409, title: 'Not possible in the present state' },
  version_retired: { status: 410, title: 'This has ended' },
  precondition_failed: { status: 412, title: 'Changed in the meantime' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  uri_too_long: { status: 414, title: 'The URL is too long' },
  unsupported_media_type: { status: 415, title: 'The body has an unsupported media type' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key belongs to another request' },
  precondition_required: { status: 428, title: 'Say which version you mean' },
  rate_limited: { status: 429, title: 'Too many requests' },
  quota_exceeded: { status: 429, title: 'The quota is used up' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
  insufficient_storage: { status: 503, title: 'Not enough disk space' },
} as const satisfies Record<string, ProblemDeclaration>;

/** One thing that is wrong with a request, and where. */
export const problemEntry = component(
  'ProblemEntry',
  z.object({
    in: z.enum(['body', 'query', 'path', 'header']).describe('Which part of the request.'),
    pointer: z
      .string()
      .optional()
      .describe('Where in the body, as a JSON Pointer in a URI fragment (RFC 6901 section 6): `#/items/0/quantity`.'),
    parameter: z.string().optional().describe('Which query parameter, path parameter or header.'),
    code: z.string().describe('What is wrong, for programs: `required`, `out_of_range`, `unknown_field`. More may be added.'),
    detail: z.string().describe('What is wrong, for people.'),
    allowed: z.array(z.string()).optional().describe('The values that would be accepted, where there is a list of them.'),
    product_id: id.optional().describe('With `out_of_stock`: the product that is short.'),
    requested: z.number().int().optional().describe('With `out_of_stock`: how many units the order asked for.'),
    available: z.number().int().optional().describe('With `out_of_stock`: how many units there were.'),
    actual: amount.optional().describe('With `price_changed`: the total as it is now, in minor units.'),
  }),
);

const problemFields = {
  type: z.string().url().describe('Identifies the kind of problem; ends with `code`.'),
  title: z.string().describe('The kind of problem, in words; the same for every occurrence.'),
  status: z.number().int().min(400).max(599).describe('The HTTP status.'),
  code: z.string().describe('The kind of problem, for programs. Codes are never removed within a version; new ones may appear.'),
  detail: z.string().describe('What happened this time, and what to do about it.'),
  instance: z.string().describe('This occurrence.'),
  request_id: z.string().describe('The same as the `X-Request-Id` header; quote it to support.'),
  violated_policies: z.array(z.string()).optional().describe('With 429: which of the policies named in `RateLimit-Policy` it was.'),
  errors: z.array(problemEntry).max(50).optional().describe('Everything that is wrong with the request, at once.'),
};

/** The body of every failure under `/api`: problem details (RFC 9457). */
export const problem = component('Problem', z.object(problemFields));

type StatusOf<Registry extends Record<string, ProblemDeclaration>, Code extends keyof Registry> = Registry[Code]['status'];
type CodesOf<Registry extends Record<string, ProblemDeclaration>, Code extends keyof Registry, Status> = {
  [C in Code]: Registry[C]['status'] extends Status ? C : never;
}[Code];
type Failure<Code extends string> = ContractOtherResponse<z.ZodType<z.infer<typeof problem> & { code: Code }>>;
type Failures<Registry extends Record<string, ProblemDeclaration>, Code extends keyof Registry & string> = {
  [Status in StatusOf<Registry, Code>]: Failure<CodesOf<Registry, Code, Status>>;
};

/**
 * The failure responses of a route, from the codes it may answer with: one response per status.
 * `failuresOf({ ...commonProblems, ...orderProblems })('not_found', 'out_of_stock')` declares 404 and 409.
 */
export const failuresOf =
  <const Registry extends Record<string, ProblemDeclaration>>(registry: Registry) =>
  <const Codes extends readonly (keyof Registry & string)[]>(...codes: Codes): Failures<Registry, Codes[number]> => {
    const byStatus = Map.groupBy(codes, (code) => registry[code]?.status ?? 500);
    const responses = [...byStatus].map(([status, [first = '', ...more]]) => [status, failure([first, ...more])] as const);
    // Object.fromEntries forgets which status goes with which codes; the return type is that knowledge.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return Object.fromEntries(responses) as unknown as Failures<Registry, Codes[number]>;
  };

const failure = ([first, ...more]: [string, ...string[]]) =>
  c.otherResponse({ contentType: 'application/problem+json', body: z.object({ ...problemFields, code: z.enum([first, ...more]) }) });

/** The codes that a declared failure can carry. */
export function problemCodesOf({ body }: { body: unknown }): string[] {
  const shape: Record<string, unknown> = body instanceof z.ZodObject ? z.record(z.unknown()).parse(body.shape) : {};
  const code = shape['code'];
  if (!(code instanceof z.ZodEnum)) throw new Error('not the body of a declared failure');
  return z.array(z.string()).parse(code.options);
}

const always = [
  'invalid_request',
  'not_acceptable',
  'rate_limited',
  'quota_exceeded',
  'internal_error',
  'unavailable',
  'insufficient_storage',
] as const;
/** What is refused before it is known which operation it is for: any path can answer it, and no operation declares it. */
export const transportProblems = [
  'route_not_found',
  'method_not_allowed',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
] as const satisfies readonly (keyof typeof commonProblems)[];
/** What a public operation can answer: it needs no token, but refuses a bad one. */
export const open = [...always, 'invalid_token', 'expired_token', 'revoked_token'] as const;
/** What an operation can answer that needs an access token, and works for everybody whose token has the scope. */
export const tokenGuarded = [...open, 'missing_token', 'insufficient_scope'] as const;
/** The same, where some people are refused whatever their application was given. */
export const guarded = [...tokenGuarded, 'forbidden'] as const;
/** What an operation that takes a file can answer besides. */
export const withFile = ['payload_too_large', 'unsupported_media_type'] as const;
/** What an operation with a body can answer besides. */
export const withBody = ['malformed_json', ...withFile] as const;
/** What an operation on one version of a thing can answer besides. */
export const withIfMatch = ['precondition_failed'] as const;
/** What a list can answer besides. */
export const withCursor = ['invalid_cursor', 'cursor_mismatch'] as const;
/** What an operation that accepts an `Idempotency-Key` can answer besides. */
export const withIdempotencyKey = ['idempotency_key_invalid', 'idempotency_in_progress', 'idempotency_key_reused'] as const;
