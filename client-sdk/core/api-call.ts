import type { AuthorizationError, SignInRequiredError } from './authorization-errors.ts';
import { MandateError, type AbortError, type ApiErrorOf, type ConnectionError, type DecodeError, type TimeoutError } from './errors.ts';

/** Options for a single call. */
export type CallOptions = {
  /** Aborts the call, even while it waits between two attempts. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of each attempt. */
  readonly timeoutMs?: number | undefined;
  /** Time limit for all attempts and the delays between them. */
  readonly deadlineMs?: number | undefined;
  /** Maximum number of retries. */
  readonly maxRetries?: number | undefined;
  /** Idempotency key (default: a random key for each call that accepts a key). A request with the same key is never executed twice. */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

/** Option for operations that support dry runs. */
export type DryRun = {
  /** Returns the same response as a real request, but stores nothing (default: false). */
  readonly dryRun?: boolean | undefined;
};

/** Option for conditional updates. */
export type IfMatch = {
  /** ETag of the version to change. If the resource no longer has this ETag, the call fails with `precondition_failed`. */
  readonly ifMatch?: string | undefined;
};

/** Option for conditional reads, and for updates that must not replace an existing resource. */
export type IfNoneMatch = {
  /**
   * ETag of the version that you already have. If this version is still current, a read returns `undefined`. In an update, `*` means that
   * the resource must not exist yet.
   */
  readonly ifNoneMatch?: string | undefined;
};

/** An API response: its body as received, with status and headers. */
export type ResponseWithData<Data> = {
  readonly data: Data;
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  /**
   * Whether this is the response to an earlier request with the same idempotency key. In a replay, secrets are `null`;
   * the field description explains how to get a valid secret.
   */
  readonly replayed: boolean;
};

/** Errors that any call can fail with, apart from API problems. */
export type TransportFailure = ConnectionError | TimeoutError | AbortError | DecodeError | SignInRequiredError | AuthorizationError;

/** The outcome of a call, returned as a value. */
export type Result<Data, Problems> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly error: ApiErrorOf<Problems> | TransportFailure };

/** A call in progress. Awaiting the call returns the data or throws; `safe()` returns either outcome as a value. */
export class Call<Data, Problems = Record<string, number>> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #response: Promise<ResponseWithData<Data>>;

  constructor(response: Promise<ResponseWithData<Data>>) {
    this.#response = response;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<Fulfilled = Data, Caught = never>(
    onFulfilled?: ((data: Data) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Fulfilled | Caught> {
    return this.#response.then(({ data }) => data).then(onFulfilled, onRejected);
  }

  catch<Caught = never>(onRejected?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null): Promise<Data | Caught> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Data> {
    return this.then(null).finally(onFinally);
  }

  /** Returns the data with status, headers and request ID. */
  withResponse(): Promise<ResponseWithData<Data>> {
    return this.#response;
  }

  /** Returns failures as values with a known set of codes instead of throwing them. */
  async safe(): Promise<Result<Data, Problems>> {
    try {
      return { ok: true, data: await this };
    } catch (error) {
      // Programming errors are still thrown.
      if (!(error instanceof MandateError)) throw error;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract lists the codes of each operation
      return { ok: false, error: error as ApiErrorOf<Problems> | TransportFailure };
    }
  }
}
