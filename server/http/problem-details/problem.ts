import type { ProblemCode } from '@mandate/contract';

/** One error in a request and its location (the contract's ProblemEntry). */
export type ProblemEntry = {
  readonly in: 'body' | 'query' | 'path' | 'header';
  readonly pointer?: string;
  readonly parameter?: string;
  readonly code: string;
  readonly detail: string;
  readonly allowed?: string[];
  readonly product_id?: number;
  readonly requested?: number;
  readonly available?: number;
  readonly limit?: number;
  readonly spent?: number;
  readonly actual?: number;
  readonly approvable?: boolean;
  readonly approval_id?: number;
};

type ProblemOptions = {
  /** Explains the problem and its solution to the client. */
  readonly detail?: string;
  readonly errors?: readonly ProblemEntry[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of the exceeded limits, for a 429 response. */
  readonly violatedPolicies?: readonly string[];
  /** Logged, but not sent. */
  readonly cause?: unknown;
};

/** An error that the contract declares. The error handler sends it as problem details. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string | undefined;
  readonly errors: readonly ProblemEntry[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly violatedPolicies: readonly string[] | undefined;

  constructor(code: ProblemCode, { detail, errors, headers = {}, violatedPolicies, cause }: ProblemOptions) {
    super(detail ?? code, { cause });
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.headers = headers;
    this.violatedPolicies = violatedPolicies;
  }
}

/** `throw problem('not_found', { detail: 'Order 7 was not found.' })` */
export const createProblem = (code: ProblemCode, options: ProblemOptions = {}): Problem => new Problem(code, options);

/** The request body exceeds its operation's size limit, `bodyMax` bytes. */
export const createPayloadTooLargeProblem = (bodyMax: number, cause?: unknown): Problem =>
  createProblem('payload_too_large', { detail: `The body is larger than ${bodyMax} bytes. Send a smaller one.`, cause });

/** The request violates the contract or contradicts itself. All errors are reported in one response. */
export function createInvalidRequestProblem(...errors: ProblemEntry[]): Problem {
  const [first] = errors;
  const detail =
    errors.length === 1 && first
      ? `${first.pointer ?? first.parameter ?? 'The request'}: ${first.detail}`
      : `${errors.length} errors in the request.`;
  return createProblem('invalid_request', { detail, errors });
}
