import type { components } from '../schema/types.gen.ts';

type Problem = components['schemas']['Problem'];
type ProblemEntry = components['schemas']['ProblemEntry'];
type Task = components['schemas']['Task'];

/** Base class for all call errors; `code` distinguishes them. */
export abstract class MandateError extends Error {
  abstract readonly code: string;
}

/** The API rejected the request. */
export class ApiError<Code extends string = string, Status extends number = number> extends MandateError {
  override readonly name = 'ApiError';
  /** Problem code. A newer service may send codes that this SDK version does not list. */
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
    this.detail = detail ?? title;
    this.requestId = requestId ?? headers.get('x-request-id') ?? undefined;
    this.errors = errors;
    this.retryAfterSeconds = retryAfterSeconds(headers);
  }

  /** Without this method, TypeScript would infer `ApiError<any, any>` from `error instanceof ApiError`. */
  static override [Symbol.hasInstance](value: unknown): value is ApiError {
    return Object.prototype.isPrototypeOf.call(ApiError.prototype, Object(value));
  }
}

/** No response: the host name is unknown, or the connection was refused or lost. The service may have executed the request. */
export class ConnectionError extends MandateError {
  override readonly name = 'ConnectionError';
  readonly code = 'connection_failed';
}

/** No response in time. The service may have executed the request. */
export class TimeoutError extends MandateError {
  override readonly name = 'TimeoutError';
  readonly code = 'timeout';
}

/** The task did not finish within `maxWaitMs`. It continues to run. */
export class WaitOverError extends MandateError {
  override readonly name = 'WaitOverError';
  readonly code = 'wait_over';
  /** Last known state of the task. */
  readonly task: Task | undefined;

  constructor(message: string, task: Task | undefined) {
    super(message);
    this.task = task;
  }
}

/** The caller's signal aborted the call. */
export class AbortError extends MandateError {
  override readonly name = 'AbortError';
  readonly code = 'aborted';
}

/** The response is not a valid API response; it often comes from a proxy. */
export class DecodeError extends MandateError {
  override readonly name = 'DecodeError';
  readonly code = 'undecodable_answer';
  readonly status: number;
  readonly headers: Headers;
  /** Beginning of the response body. */
  readonly text: string;

  constructor(status: number, headers: Headers, text: string, cause?: unknown) {
    super(`HTTP ${status} with a body that is not ${status < 400 ? 'JSON' : 'a problem document'}`, { cause });
    this.status = status;
    this.headers = headers;
    this.text = text.slice(0, 2000);
  }
}

/** The user has to sign in: no user is signed in, or the grant has expired or been revoked. */
export class SignInRequiredError extends MandateError {
  override readonly name = 'SignInRequiredError';
  readonly code = 'sign_in_required';
}

/** The authorization server or the user denied the request; `error` is the OAuth error code, such as `access_denied` (RFC 6749). */
export class AuthorizationError extends MandateError {
  override readonly name = 'AuthorizationError';
  readonly code = 'authorization_failed';
  readonly error: string;

  constructor(error: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.error = error;
  }
}

/** Errors that any call can fail with, apart from API problems. */
export type TransportFailure = ConnectionError | TimeoutError | AbortError | DecodeError | SignInRequiredError | AuthorizationError;

/**
 * Represents every code that only a newer service knows. No response contains this placeholder. Because the type is narrower than
 * `string`, comparisons with misspelled codes do not compile.
 */
export type UnknownCode = '(a code of a newer service)';

/**
 * Union of one `ApiError` type for each error code of the operation and one for the codes of newer services. The compiler therefore knows
 * all codes in `switch (error.code)`.
 */
export type ApiErrorOf<Problems> =
  | { [Code in keyof Problems & string]: ApiError<Code, Problems[Code] & number> }[keyof Problems & string]
  | ApiError<UnknownCode>;

/** Creates a `ConnectionError`. Node reports why a connection failed as a code on the error's cause; browsers do not reveal the reason. */
export function createConnectionError(origin: string, cause: unknown): ConnectionError {
  const inner = cause instanceof Error ? cause.cause : undefined;
  const reason = typeof inner === 'object' && inner !== null && 'code' in inner && typeof inner.code === 'string' ? `: ${inner.code}` : '';
  return new ConnectionError(`Could not reach ${origin}${reason}`, { cause });
}

/** Returns the delay from `Retry-After`, which can be seconds or a date (RFC 9110). */
function retryAfterSeconds(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const epochMs = Date.parse(value);
  return Number.isNaN(epochMs) ? undefined : Math.max(0, Math.ceil((epochMs - Date.now()) / 1000));
}
