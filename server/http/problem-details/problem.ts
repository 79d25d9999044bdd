import type { ProblemCode } from '@mandate/contract';

/** One thing that is wrong with the request, and where (the contract's ProblemEntry). */
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
  readonly actual?: number;
};

type Particulars = {
  /** For the caller: what happened and what to do about it. */
  readonly detail?: string;
  readonly errors?: readonly ProblemEntry[];
  readonly headers?: Readonly<Record<string, string>>;
  /** With 429: what the limits are called that were met. */
  readonly violatedPolicies?: readonly string[];
  /** For the log only. */
  readonly cause?: unknown;
};

/** A failure that the contract declares; the error handler writes it. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string | undefined;
  readonly errors: readonly ProblemEntry[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly violatedPolicies: readonly string[] | undefined;

  constructor(code: ProblemCode, { detail, errors, headers = {}, violatedPolicies, cause }: Particulars) {
    super(detail ?? code, { cause });
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.headers = headers;
    this.violatedPolicies = violatedPolicies;
  }
}

/** `throw problem('not_found', { detail: 'Order 7 was not found.' })` */
export const problem = (code: ProblemCode, particulars: Particulars = {}): Problem => new Problem(code, particulars);

/** A body over the limit of its operation, in bytes. */
export const payloadTooLarge = (bodyMax: number, cause?: unknown): Problem =>
  problem('payload_too_large', { detail: `The body is larger than ${bodyMax} bytes. Send a smaller one.`, cause });

/** A request whose parts contradict the contract or each other: everything that is wrong with it at once. */
export function invalidRequest(...errors: ProblemEntry[]): Problem {
  const [first] = errors;
  const detail =
    errors.length === 1 && first
      ? `${first.pointer ?? first.parameter ?? 'The request'}: ${first.detail}`
      : `${errors.length} things are wrong with the request.`;
  return problem('invalid_request', { detail, errors });
}
