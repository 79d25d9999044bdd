import type { Problem, ProblemEntry, Task } from '../generated/resources.gen.ts';

/** What every failure of a call has in common. `code` tells them apart. */
export abstract class MandateError extends Error {
  abstract readonly code: string;
}

/** The API refused the request, and says why. */
export class ApiError<Code extends string = string, Status extends number = number> extends MandateError {
  override readonly name = 'ApiError';
  /** The kind of problem. A newer service may send codes that this version does not list. */
  readonly code: Code;
  readonly status: Status;
  readonly title: string;
  readonly detail: string;
  /** Quote it to support. */
  readonly requestId: string | undefined;
  /** Everything that is wrong with the request, at once. */
  readonly errors: readonly ProblemEntry[];
  /** How long the service asks to wait before the next try. */
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

  /** TypeScript would take `error instanceof ApiError` for an `ApiError<any, any>`. */
  static override [Symbol.hasInstance](value: unknown): value is ApiError {
    return Object.prototype.isPrototypeOf.call(ApiError.prototype, Object(value));
  }
}

/** No answer: the name is unknown, the connection was refused or broke. Whether the request was carried out is not known. */
export class ConnectionError extends MandateError {
  override readonly name = 'ConnectionError';
  readonly code = 'connection_failed';
}

/** No answer in time. Whether the request was carried out is not known. */
export class TimeoutError extends MandateError {
  override readonly name = 'TimeoutError';
  readonly code = 'timeout';
}

/** Waited as long as was said, and what was waited for is not over. It goes on. */
export class WaitOverError extends MandateError {
  override readonly name = 'WaitOverError';
  readonly code = 'wait_over';
  /** As it was seen last. */
  readonly task: Task | undefined;

  constructor(message: string, task: Task | undefined) {
    super(message);
    this.task = task;
  }
}

/** The caller's signal ended the call. */
export class AbortError extends MandateError {
  override readonly name = 'AbortError';
  readonly code = 'aborted';
}

/** The answer is not what the API sends; often it comes from a proxy in between. */
export class DecodeError extends MandateError {
  override readonly name = 'DecodeError';
  readonly code = 'undecodable_answer';
  readonly status: number;
  readonly headers: Headers;
  /** How the answer begins. */
  readonly text: string;

  constructor(status: number, headers: Headers, text: string, cause?: unknown) {
    super(`HTTP ${status} with a body that is not ${status < 400 ? 'JSON' : 'a problem document'}`, { cause });
    this.status = status;
    this.headers = headers;
    this.text = text.slice(0, 2000);
  }
}

/** There is no token to be had without the person: nobody signed in, or what was granted has ended. */
export class SignInRequiredError extends MandateError {
  override readonly name = 'SignInRequiredError';
  readonly code = 'sign_in_required';
}

/** The authorization server refused, or the person did; `error` is its code, such as `access_denied` (RFC 6749). */
export class AuthorizationError extends MandateError {
  override readonly name = 'AuthorizationError';
  readonly code = 'authorization_failed';
  readonly error: string;

  constructor(error: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.error = error;
  }
}

/** The failures that any call can end with besides the API's own. */
export type TransportFailure = ConnectionError | TimeoutError | AbortError | DecodeError | SignInRequiredError | AuthorizationError;

/** In types, any code that a newer service may send; never compare with it. A mistyped code equals none and does not compile. */
export type UnknownCode = '(a code of a newer service)';

/** One `ApiError` for each code of an operation, so that `switch (error.code)` knows them all, and one for what newer services may send. */
export type ApiErrorOf<Problems> =
  | { [Code in keyof Problems & string]: ApiError<Code, Problems[Code] & number> }[keyof Problems & string]
  | ApiError<UnknownCode>;

/** Node says why in a code on the cause; browsers keep it to themselves. */
export function unreachable(origin: string, cause: unknown): ConnectionError {
  const inner = cause instanceof Error ? cause.cause : undefined;
  const reason = typeof inner === 'object' && inner !== null && 'code' in inner && typeof inner.code === 'string' ? `: ${inner.code}` : '';
  return new ConnectionError(`Could not reach ${origin}${reason}`, { cause });
}

/** Seconds or a date, as RFC 9110 allows. */
function retryAfterSeconds(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : Math.max(0, Math.ceil((moment - Date.now()) / 1000));
}
