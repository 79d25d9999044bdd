import { AsyncLocalStorage } from 'node:async_hooks';
import { sqlState } from '../errors/sql-errors.ts';

/** How much of one statement happens at the same time. */
export type Bounds = {
  /** So many different questions go to the database as one query; what comes on top waits for the next. */
  readonly batchMax: number;
  /** So many of these queries run at the same time. */
  readonly runningMax: number;
};

export type Parameters = readonly unknown[];
/** What the `n`th question got, counted from 1; nothing where there is nothing. */
export type Answer<Result> = { readonly n: number; readonly answer: Result };
/** Puts questions to the database as one query. Answers that are there before the others may be told at once. */
export type AskAll<Result> = (
  questions: readonly Parameters[],
  tell: (answer: Answer<Result>) => void,
) => Promise<readonly Answer<Result>[]>;

type Question<Result> = { readonly parameters: Parameters } & PromiseWithResolvers<Result | undefined>;

/** Runs what it is given outside of every request: what is asked for several must not happen in the transaction of one of them. */
const outsideRequests = AsyncLocalStorage.snapshot();

/**
 * What is asked of one statement in one turn of the event loop goes to the database as one query, and equal questions as one. Who
 * may see the answer is part of each question, therefore, and nobody changes what they got. A question never joins a query that
 * has begun, so that nobody sees less than was there when they asked; and one that fails fails alone.
 */
export class QuestionQueue<Result> {
  readonly #askAll: AskAll<Result>;
  readonly #bounds: Bounds;
  /** Made anew for each query: a map that is kept keeps its old tables alive, and all that was in them (see `noteOf`). */
  #waiting = new Map<string, Question<Result>>();
  #running = 0;
  #scheduled = false;

  constructor(askAll: AskAll<Result>, bounds: Bounds) {
    this.#askAll = askAll;
    this.#bounds = bounds;
  }

  ask(parameters: Parameters): Promise<Result | undefined> {
    const key = JSON.stringify(parameters);
    const question = this.#waiting.get(key) ?? { parameters, ...Promise.withResolvers<Result | undefined>() };
    this.#waiting.set(key, question);
    this.#schedule();
    return question.promise;
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#bounds.runningMax || this.#waiting.size === 0) return;
    this.#scheduled = true;
    // after everything that arrived in this turn was read
    outsideRequests(() => setImmediate(() => void this.#run()));
  }

  async #run(): Promise<void> {
    const all = [...this.#waiting];
    const batch = all.splice(0, this.#bounds.batchMax);
    this.#waiting = new Map(all);
    this.#scheduled = false;
    this.#running += 1;
    this.#schedule();
    await this.#answer(batch.map(([, question]) => question));
    this.#running -= 1;
    this.#schedule();
  }

  async #answer(questions: readonly Question<Result>[]): Promise<void> {
    try {
      const tell = ({ n, answer }: Answer<Result>): void => questions[n - 1]?.resolve(answer);
      const asked = this.#askAll(
        questions.map(({ parameters }) => parameters),
        tell,
      );
      for (const answer of await asked) tell(answer);
      for (const { resolve } of questions) resolve(undefined); // those that nothing was found for
    } catch (error) {
      // whose question it was that PostgreSQL objects to shows when each is asked again by itself
      if (questions.length > 1 && sqlState(error) !== undefined) for (const question of questions) await this.#answer([question]);
      else for (const { reject } of questions) reject(error);
    }
  }
}
