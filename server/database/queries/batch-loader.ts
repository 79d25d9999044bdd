import { AsyncLocalStorage } from 'node:async_hooks';
import { getSqlState } from '../errors/sql-error-fields.ts';

/** Limits for batching a statement's lookups into queries. */
export type BatchLimits = {
  /** Maximum number of lookups per query; additional lookups wait for the next query. */
  readonly maxBatchSize: number;
  /** Maximum number of concurrent queries. */
  readonly maxConcurrentBatches: number;
};

export type StatementParameters = readonly unknown[];
/** Result of the `n`th lookup, counted from 1. Lookups without a result have no entry. */
export type BatchResult<Result> = { readonly n: number; readonly answer: Result };
/** Runs many lookups as one query. Results may be passed to `onResult` before the query completes. */
export type FetchBatch<Result> = (
  lookups: readonly StatementParameters[],
  onResult: (answer: BatchResult<Result>) => void,
) => Promise<readonly BatchResult<Result>[]>;

type PendingLookup<Result> = { readonly parameters: StatementParameters } & PromiseWithResolvers<Result | undefined>;

/** Runs outside the request's async context, because a query for several requests must not join one request's transaction. */
const runDetached = AsyncLocalStorage.snapshot();

/**
 * Combines all lookups that use the same statement and are requested in the same event-loop turn into one query. Identical lookups share
 * one result. Therefore, the caller's permissions must be part of the parameters, and results must not be mutated. A lookup never joins a
 * query that was already sent, because that query could miss rows committed in the meantime. If a batch fails, each lookup is retried
 * individually.
 */
export class BatchLoader<Result> {
  readonly #fetchBatch: FetchBatch<Result>;
  readonly #limits: BatchLimits;
  /**
   * The map is replaced for each query, because a long-lived map keeps its old hash tables and their content alive (see
   * `createSymbolKeyedProperty`).
   */
  #pending = new Map<string, PendingLookup<Result>>();
  #runningBatches = 0;
  #isScheduled = false;

  constructor(fetchBatch: FetchBatch<Result>, limits: BatchLimits) {
    this.#fetchBatch = fetchBatch;
    this.#limits = limits;
  }

  load(parameters: StatementParameters): Promise<Result | undefined> {
    const key = JSON.stringify(parameters);
    const lookup = this.#pending.get(key) ?? { parameters, ...Promise.withResolvers<Result | undefined>() };
    this.#pending.set(key, lookup);
    this.#schedule();
    return lookup.promise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#runningBatches >= this.#limits.maxConcurrentBatches || this.#pending.size === 0) return;
    this.#isScheduled = true;
    // Dispatches the lookups after all requests that arrived in this event-loop turn have been parsed.
    runDetached(() => setImmediate(() => void this.#dispatch()));
  }

  async #dispatch(): Promise<void> {
    const all = [...this.#pending];
    const batch = all.splice(0, this.#limits.maxBatchSize);
    this.#pending = new Map(all);
    this.#isScheduled = false;
    this.#runningBatches += 1;
    this.#schedule();
    await this.#fetch(batch.map(([, lookup]) => lookup));
    this.#runningBatches -= 1;
    this.#schedule();
  }

  async #fetch(lookups: readonly PendingLookup<Result>[]): Promise<void> {
    try {
      const onResult = ({ n, answer }: BatchResult<Result>): void => lookups[n - 1]?.resolve(answer);
      const results = this.#fetchBatch(
        lookups.map(({ parameters }) => parameters),
        onResult,
      );
      for (const answer of await results) onResult(answer);
      for (const { resolve } of lookups) resolve(undefined); // resolves the lookups that found no row
    } catch (error) {
      // Lookups are retried one by one, so that only the lookup that PostgreSQL rejects fails.
      if (lookups.length > 1 && getSqlState(error) !== undefined) for (const lookup of lookups) await this.#fetch([lookup]);
      else for (const { reject } of lookups) reject(error);
    }
  }
}
