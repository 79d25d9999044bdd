import type { ProblemCode } from '@mandate/contract';
import { translatable, type ProblemDetail } from './translatable-text.ts';
import { formatInEnglish } from './translate-detail.ts';

/** One error in a request, with the location of the error (the contract's `ProblemEntry`). */
export type ProblemEntry = {
  readonly in: 'body' | 'query' | 'path' | 'header';
  readonly pointer?: string;
  readonly parameter?: string;
  readonly code: string;
  readonly detail: ProblemDetail;
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
  readonly detail?: ProblemDetail;
  readonly errors?: readonly ProblemEntry[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of the exceeded limits, for a 429 response. */
  readonly violatedPolicies?: readonly string[];
  /** Logged, but not sent to the client. */
  readonly cause?: unknown;
};

/** An error that the contract declares. The error handler sends the error as problem details. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: ProblemDetail | undefined;
  readonly errors: readonly ProblemEntry[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly violatedPolicies: readonly string[] | undefined;

  constructor(code: ProblemCode, { detail, errors, headers = {}, violatedPolicies, cause }: ProblemOptions) {
    super(detail === undefined ? code : formatInEnglish(detail), { cause });
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.headers = headers;
    this.violatedPolicies = violatedPolicies;
  }
}

/** Example: `throw createProblem('not_found', { detail: 'Order 7 was not found.' })` */
export const createProblem = (code: ProblemCode, options: ProblemOptions = {}): Problem => new Problem(code, options);

/** Creates the problem for a request body that is larger than the limit of its operation (`bodyMax` bytes). */
export const createPayloadTooLargeProblem = (bodyMax: number, cause?: unknown): Problem =>
  createProblem('payload_too_large', {
    detail: translatable`The body is larger than ${{ bytes: bodyMax }} bytes. Send a smaller one.`,
    cause,
  });

/** Creates the problem for a request that violates the contract or contradicts itself. One response reports all errors. */
export function createInvalidRequestProblem(...errors: ProblemEntry[]): Problem {
  return createProblem('invalid_request', { detail: summarizeErrors(errors), errors });
}

function summarizeErrors(errors: readonly ProblemEntry[]): ProblemDetail {
  const [first] = errors;
  if (errors.length !== 1 || !first) return translatable`The request contains ${{ count: errors.length }} errors.`;
  const location = first.pointer ?? first.parameter;
  return [location === undefined ? 'The request:' : translatable`${{ location }}:`, first.detail];
}
