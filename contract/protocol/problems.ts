import { initContract, type ContractOtherResponse } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../schema/openapi-schema-name.ts';
import { idSchema } from '../schema/ids.ts';
import { amountSchema } from '../schema/amount-price-and-currency-schemas.ts';

const c = initContract();

/** HTTP status and title for a problem code. */
export type ProblemDeclaration = { readonly status: number; readonly title: string };

/** Problem codes that are not specific to one resource. */
export const commonProblemTypes = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_cursor: { status: 400, title: 'The cursor is not valid' },
  cursor_mismatch: { status: 400, title: 'The cursor belongs to a different list' },
  idempotency_key_invalid: { status: 400, title: 'The idempotency key is not valid' },
  missing_token: { status: 401, title: 'An access token is required' },
  invalid_token: { status: 401, title: 'The access token is not valid' },
  expired_token: { status: 401, title: 'The access token has expired' },
  revoked_token: { status: 401, title: 'The access token has been revoked' },
  insufficient_user_authentication: { status: 401, title: 'A recent sign-in is required' },
  insufficient_scope: { status: 403, title: 'The access token does not permit this operation' },
  forbidden: { status: 403, title: 'Not allowed' },
  limit_exceeded: { status: 403, title: 'The order exceeds a limit that the customer set' },
  not_found: { status: 404, title: 'Not found' },
  route_not_found: { status: 404, title: 'No such path' },
  method_not_allowed: { status: 405, title: 'The path does not support this method' },
  not_acceptable: { status: 406, title: 'No acceptable response format' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  idempotency_in_progress: { status: 409, title: 'A request with the same idempotency key is in progress' },
  conflict: { status: 409, title: 'Conflict with the current state' },
  invalid_transition: { status: 409, title: 'Not possible in the current state' },
  version_retired: { status: 410, title: 'No longer supported' },
  precondition_failed: { status: 412, title: 'The resource has changed' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  uri_too_long: { status: 414, title: 'The URL is too long' },
  unsupported_media_type: { status: 415, title: 'The body has an unsupported media type' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used for a different request' },
  precondition_required: { status: 428, title: 'An If-Match header is required' },
  rate_limited: { status: 429, title: 'Too many requests' },
  quota_exceeded: { status: 429, title: 'Quota exceeded' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
  insufficient_storage: { status: 503, title: 'Not enough disk space' },
} as const satisfies Record<string, ProblemDeclaration>;

/** One error in a request, with its location. */
export const problemEntrySchema = withSchemaName(
  'ProblemEntry',
  z.object({
    in: z.enum(['body', 'query', 'path', 'header']).describe('Part of the request that is invalid.'),
    pointer: z
      .string()
      .optional()
      .describe('Location in the body, as a JSON Pointer in a URI fragment (RFC 6901 section 6), such as `#/items/0/quantity`.'),
    parameter: z.string().optional().describe('Name of the query parameter, path parameter or header.'),
    code: z
      .string()
      .describe('Machine-readable error code, such as `required`, `out_of_range` or `unknown_field`. More codes may be added.'),
    detail: z.string().describe('Human-readable description of the error.'),
    allowed: z.array(z.string()).optional().describe('Accepted values, if the field accepts only a fixed set.'),
    product_id: idSchema
      .optional()
      .describe('Product that is out of stock (code `out_of_stock`), or whose category is not permitted (code `limit_exceeded`).'),
    category: z
      .string()
      .optional()
      .describe('Category of the product; present only with the code `limit_exceeded`, if the category is not permitted.'),
    permitted_categories: z
      .array(z.string())
      .optional()
      .describe('Categories of products that can be ordered; present only together with `category`.'),
    requested: z
      .number()
      .int()
      .optional()
      .describe('Number of units that were ordered (code `out_of_stock`), or amount of the order in minor units (code `limit_exceeded`).'),
    available: z
      .number()
      .int()
      .optional()
      .describe('Number of available units (code `out_of_stock`), or remaining amount in minor units (code `limit_exceeded`).'),
    limit: amountSchema.optional().describe('Limit that the customer set, in minor units; present only with the code `limit_exceeded`.'),
    spent: amountSchema
      .optional()
      .describe(
        'Amount already spent in the current period, in minor units; present only with the code `limit_exceeded`, if a limit per period was exceeded.',
      ),
    actual: amountSchema.optional().describe('Current total, in minor units; present only with the code `price_changed`.'),
    approvable: z
      .boolean()
      .optional()
      .describe('Whether the application can request approval from the customer; present only with the code `limit_exceeded`.'),
    approval_id: idSchema
      .optional()
      .describe('Pending, declined or expired approval of the quote; present only with the code `limit_exceeded`.'),
  }),
);

const problemFields = {
  type: z.string().url().describe('URL that identifies the problem type and ends with the value of `code`.'),
  title: z.string().describe('Short description of the problem type, in the language selected by `Accept-Language`.'),
  status: z.number().int().min(400).max(599).describe('HTTP status code.'),
  code: z.string().describe('Machine-readable problem code. Codes are never removed within an API version; new codes may be added.'),
  detail: z
    .string()
    .describe('Explanation of this occurrence of the problem, and how to resolve it, in the language selected by `Accept-Language`.'),
  instance: z.string().describe('URI that identifies this occurrence of the problem.'),
  request_id: z.string().describe('ID of the request, as in the `X-Request-Id` header. Include the ID when contacting support.'),
  violated_policies: z
    .array(z.string())
    .optional()
    .describe('Names of the exceeded policies, as in the `RateLimit-Policy` header; present only with status 429.'),
  errors: z.array(problemEntrySchema).max(50).optional().describe('All errors found in the request.'),
};

/** Body of every error response under `/api`: problem details (RFC 9457). */
export const problemSchema = withSchemaName('Problem', z.object(problemFields));

type StatusOf<Registry extends Record<string, ProblemDeclaration>, Code extends keyof Registry> = Registry[Code]['status'];
type CodesOf<Registry extends Record<string, ProblemDeclaration>, Code extends keyof Registry, Status> = {
  [C in Code]: Registry[C]['status'] extends Status ? C : never;
}[Code];
/** This type is an interface, because a declaration file cannot name the private types that `ContractOtherResponse` expands to. */
export interface ErrorResponse<Code extends string> extends ContractOtherResponse<
  z.ZodType<z.infer<typeof problemSchema> & { code: Code }>
> {}
type ErrorResponses<Registry extends Record<string, ProblemDeclaration>, Code extends keyof Registry & string> = {
  [Status in StatusOf<Registry, Code>]: ErrorResponse<CodesOf<Registry, Code, Status>>;
};

/**
 * Declares a route's error responses from its problem codes, with one response for each status.
 * `declareProblemResponses({ ...commonProblemTypes, ...orderProblemTypes })('not_found', 'out_of_stock')` declares 404 and 409.
 */
export const declareProblemResponses =
  <const Registry extends Record<string, ProblemDeclaration>>(registry: Registry) =>
  <const Codes extends readonly (keyof Registry & string)[]>(...codes: Codes): ErrorResponses<Registry, Codes[number]> => {
    const byStatus = Map.groupBy(codes, (code) => registry[code]?.status ?? 500);
    const responses = [...byStatus].map(([status, [first = '', ...more]]) => [status, errorResponse([first, ...more])] as const);
    // The return type of Object.fromEntries() does not contain the codes of each status; the type assertion adds them.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return Object.fromEntries(responses) as unknown as ErrorResponses<Registry, Codes[number]>;
  };

const errorResponse = ([first, ...more]: [string, ...string[]]) =>
  c.otherResponse({ contentType: 'application/problem+json', body: z.object({ ...problemFields, code: z.enum([first, ...more]) }) });

/** Returns the problem codes of a declared error response. */
export function problemCodesOfResponse({ body }: { body: unknown }): string[] {
  const shape: Record<string, unknown> = body instanceof z.ZodObject ? z.record(z.unknown()).parse(body.shape) : {};
  const code = shape['code'];
  if (!(code instanceof z.ZodEnum)) throw new Error('not the body of a declared error response');
  return z.array(z.string()).parse(code.options);
}

const alwaysPossible = [
  'invalid_request',
  'not_acceptable',
  'rate_limited',
  'quota_exceeded',
  'internal_error',
  'unavailable',
  'insufficient_storage',
] as const;
/**
 * Codes of problems that are detected before a request is matched to an operation. Any path can return these problems, so no operation
 * declares them.
 */
export const problemCodesBeforeRouting = [
  'route_not_found',
  'method_not_allowed',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
] as const satisfies readonly (keyof typeof commonProblemTypes)[];
/** Problem codes of a public operation, which requires no token but rejects an invalid one. */
export const problemCodesOfPublicOperations = [...alwaysPossible, 'invalid_token', 'expired_token', 'revoked_token'] as const;
/** Problem codes of an operation that requires an access token and checks no permissions except the scope. */
export const problemCodesOfAuthenticatedOperations = [...problemCodesOfPublicOperations, 'missing_token', 'insufficient_scope'] as const;
/** Problem codes of an operation that requires an access token and can be forbidden because of the user's role or account. */
export const problemCodesOfAuthorizedOperations = [...problemCodesOfAuthenticatedOperations, 'forbidden'] as const;
/** Additional problem codes of an operation that accepts a file. */
export const fileUploadProblemCodes = ['payload_too_large', 'unsupported_media_type'] as const;
/** Additional problem codes of an operation with a request body. */
export const bodyProblemCodes = ['malformed_json', ...fileUploadProblemCodes] as const;
/** Additional problem codes of an operation that accepts `If-Match`. */
export const ifMatchFailureCodes = ['precondition_failed'] as const;
/** Additional problem codes of an operation that returns a paginated list. */
export const cursorProblemCodes = ['invalid_cursor', 'cursor_mismatch'] as const;
/** Additional problem codes of an operation that accepts an `Idempotency-Key`. */
export const idempotencyProblemCodes = ['idempotency_key_invalid', 'idempotency_in_progress', 'idempotency_key_reused'] as const;
/** Problem codes of a POST operation with a body. The operation requires an access token and checks no permissions except the scope. */
export const problemCodesOfAuthenticatedPosts = [
  ...problemCodesOfAuthenticatedOperations,
  ...bodyProblemCodes,
  ...idempotencyProblemCodes,
] as const;
/**
 * Problem codes of a POST operation with a body. In addition to the scope, the operation requires a permission that depends on the user,
 * such as a staff role.
 */
export const problemCodesOfAuthorizedPosts = [
  ...problemCodesOfAuthorizedOperations,
  ...bodyProblemCodes,
  ...idempotencyProblemCodes,
] as const;
