import { getProperty } from './get-property.ts';
import type { Problem, ProblemEntry, Task } from '../schema/types.gen.ts';

/**
 * Symbol property that contains the name of an error class. `Symbol.for` returns the same symbol in every copy of this module, so
 * `instanceof` also recognizes an error from another copy, such as the CommonJS copy in a program that also loads the ESM copy.
 */
export const errorClassNameSymbol = Symbol.for('mandate.errorClass');

/** Base class for all call errors; `code` distinguishes them. */
export abstract class MandateError extends Error {
  static readonly [errorClassNameSymbol]: string = 'MandateError';
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target[errorClassNameSymbol];
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // A subclass declared outside this package inherits its parent's class name, so comparing this name would match all instances of the
    // parent.
    const name = Object.hasOwn(this, errorClassNameSymbol) && getProperty(getProperty(value, 'constructor'), errorClassNameSymbol);
    return super[Symbol.hasInstance](value) || [name, name && 'MandateError'].includes(this[errorClassNameSymbol]);
  }
}

/** The API rejected the request. */
export class ApiError<Code extends string = string, Status extends number = number> extends MandateError {
  static override readonly [errorClassNameSymbol] = 'ApiError';
  declare readonly name: 'ApiError';
  /** Problem code. A newer service can send codes that this SDK version does not list. */
  readonly code: Code;
  readonly status: Status;
  readonly title: string;
  readonly detail: string;
  /** ID of the request. Include the request ID when you contact support. */
  readonly requestId: string | undefined;
  /** All errors found in the request. */
  readonly errors: readonly ProblemEntry[];
  /** Delay that the service requests before the next attempt. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: Status, problem: Partial<Problem> & { code: Code }, headers: Headers) {
    const { code, title = `HTTP ${status}`, detail, request_id: requestId, errors = [] } = problem;
    super(detail ?? title);
    this.code = code;
    this.status = status;
    this.title = title;
    this.detail = this.message;
    this.requestId = requestId ?? headers.get('x-request-id') ?? undefined;
    this.errors = errors;
    this.retryAfterSeconds = retryAfterSeconds(headers);
  }

  /** Without this method, TypeScript would infer `ApiError<any, any>` from `error instanceof ApiError`. */
  declare static [Symbol.hasInstance]: (value: unknown) => value is ApiError;
}

/**
 * No response was received, because the host name is unknown, or because the connection was refused or lost. The service may have executed
 * the request.
 */
export class ConnectionError extends MandateError {
  static override readonly [errorClassNameSymbol] = 'ConnectionError';
  declare readonly name: 'ConnectionError';
  readonly code = 'connection_failed';
}

/** No response was received before the timeout. The service may have executed the request. */
export class TimeoutError extends MandateError {
  static override readonly [errorClassNameSymbol] = 'TimeoutError';
  declare readonly name: 'TimeoutError';
  readonly code = 'timeout';
}

/** The task did not finish, or the customer did not decide on the approval, within `maxWaitMs`. The task or approval is not canceled. */
export class WaitTimeoutError extends MandateError {
  static override readonly [errorClassNameSymbol] = 'WaitTimeoutError';
  declare readonly name: 'WaitTimeoutError';
  readonly code = 'wait_timeout';
  /** Last known state of the task; `undefined` for an approval. */
  readonly task: Task | undefined;

  constructor(message: string, task: Task | undefined) {
    super(message);
    this.task = task;
  }
}

/** The caller's signal aborted the call. */
export class AbortError extends MandateError {
  static override readonly [errorClassNameSymbol] = 'AbortError';
  declare readonly name: 'AbortError';
  readonly code = 'aborted';
}

/** The response is not a valid API response. For example, a proxy responded with a redirect or an HTML page. */
export class DecodeError extends MandateError {
  static override readonly [errorClassNameSymbol] = 'DecodeError';
  declare readonly name: 'DecodeError';
  readonly code = 'invalid_response';
  readonly status: number;
  readonly headers: Headers;
  /** Beginning of the response body. */
  readonly text: string;

  constructor({ status, headers }: Pick<Response, 'status' | 'headers'>, text: string, cause?: unknown) {
    super(`Invalid API response (HTTP ${status})`, { cause });
    this.status = status;
    this.headers = headers;
    this.text = text.slice(0, 2000);
  }
}

/**
 * Represents every code that only newer versions of the service define. No response contains this placeholder. Because the type is narrower
 * than `string`, comparisons with misspelled codes do not compile.
 */
export type UnknownCode = '(a code of a newer service)';

/**
 * Union of one `ApiError` type for each error code of the operation and one for the codes of newer services. The compiler therefore knows
 * all codes in `switch (error.code)`.
 */
export type ApiErrorOf<Problems> =
  | { [Code in keyof Problems & string]: ApiError<Code, Problems[Code] & number> }[keyof Problems & string]
  | ApiError<UnknownCode>;

/**
 * Creates a `ConnectionError`. Node reports the reason for a failed connection as a code in the error's cause; browsers do not reveal the
 * reason.
 */
export function createConnectionError(origin: string, cause: unknown): ConnectionError {
  const code = getProperty(getProperty(cause, 'cause'), 'code');
  const reason = typeof code === 'string' ? `: ${code}` : '';
  return new ConnectionError(`Could not reach ${origin}${reason}`, { cause });
}

/** Returns the delay from `Retry-After`, which can be seconds or a date (RFC 9110). */
function retryAfterSeconds(headers: Headers): number | undefined {
  const value = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const epochMs = Date.parse(value);
  return Number.isNaN(epochMs) ? undefined : Math.max(0, Math.ceil((epochMs - Date.now()) / 1000));
}
