import { MandateError, type ApiErrorOf, type TransportFailure } from './errors.ts';

/** What can be said of a single call. */
export type CallOptions = {
  /** Ends the call, also while it waits between two tries. */
  readonly signal?: AbortSignal | undefined;
  /** For each try. */
  readonly timeoutMs?: number | undefined;
  /** For all tries and the waits between them together. */
  readonly deadlineMs?: number | undefined;
  /** Tries after the first. */
  readonly maxRetries?: number | undefined;
  /** Instead of the one made up for every request that accepts one. The same key never carries a request out twice. */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

/** For operations that can be tried out without any effect. */
export type DryRun = {
  /** Returns the response of the real request; nothing is written. Default: false. */
  readonly dryRun?: boolean | undefined;
};

/** For what changes one thing. */
export type IfMatch = {
  /** The ETag of the version that is meant; another one is not changed, and the call fails with `precondition_failed`. */
  readonly ifMatch?: string | undefined;
};

export type IfNoneMatch = {
  /** The ETag of the version that is known already; reading it again gives `undefined`. `*` in a change: only if there is none yet. */
  readonly ifNoneMatch?: string | undefined;
};

/** An answer of the API: its body as received, and what came with it. */
export type Answer<Data> = {
  readonly data: Data;
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  /** Whether this is the response of an earlier request with the same idempotency key. A secret in it is `null`: the field's description says what to do. */
  readonly replayed: boolean;
};

export type Result<Data, Problems> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly error: ApiErrorOf<Problems> | TransportFailure };

/** A call under way. Awaiting it gives the data or throws; `safe()` gives either as a value. */
export class Call<Data, Problems = Record<string, number>> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #answer: Promise<Answer<Data>>;

  constructor(answer: Promise<Answer<Data>>) {
    this.#answer = answer;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<Kept = Data, Caught = never>(
    kept?: ((data: Data) => Kept | PromiseLike<Kept>) | null,
    caught?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.#answer.then(({ data }) => data).then(kept, caught);
  }

  catch<Caught = never>(caught?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null): Promise<Data | Caught> {
    return this.then(undefined, caught);
  }

  finally(done?: (() => void) | null): Promise<Data> {
    return this.then(undefined, undefined).finally(done);
  }

  /** The data together with status, headers and request id. */
  withResponse(): Promise<Answer<Data>> {
    return this.#answer;
  }

  /** The failure as a value with a known set of codes, instead of an exception. */
  async safe(): Promise<Result<Data, Problems>> {
    try {
      return { ok: true, data: await this };
    } catch (error) {
      // A mistake in the program stays an exception.
      if (!(error instanceof MandateError)) throw error;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract lists the codes of each operation
      return { ok: false, error: error as ApiErrorOf<Problems> | TransportFailure };
    }
  }
}
