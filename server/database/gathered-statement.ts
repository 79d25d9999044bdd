import { AsyncLocalStorage } from 'node:async_hooks';
import { TransactionContext } from '@mikro-orm/sql';
import type { Em } from './orm.ts';
import { sqlState } from './sql-state.ts';
import { statement } from './statement.ts';

/** So many questions go to the database at once; what comes on top waits for the next query. */
const batchMax = 100;
/** So many queries of one statement run at the same time: under load each of them answers more, and none waits long for another. */
const runningMax = 2;

type Question<Row> = {
  readonly parameters: readonly unknown[];
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
};
type Answer<Row> = { readonly n: number; readonly answer: Row };

/** Runs what it is given outside of every request: what is asked for several must not happen in the transaction of one of them. */
export const outsideRequests = AsyncLocalStorage.snapshot();

/**
 * A read by key that many requests make at once: what is asked in one turn of the event loop goes to the database as one query.
 * Each asks for itself: who may see the row is part of its question, and a question that fails fails alone. Within a transaction
 * it is asked there, by itself.
 * A row comes as JSON, which is read at a fraction of the cost of its columns: no number in it may be beyond 2^53.
 * @param types PostgreSQL types of `$1`, `$2`, ...
 * @param text finds at most one row, and ends where `limit` would stand
 */
export function gatheredStatement<Row>(
  name: string,
  types: readonly string[],
  text: string,
): (em: Em, parameters: readonly unknown[]) => Promise<Row | undefined> {
  const names = types.map((_, index) => `p${index + 1}`).join(', ');
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const ask = statement<Answer<Row>>(
    name,
    // the limit keeps it one look-up by index for each, whatever the planner believes of the table
    `select asked.n, to_json(answer) as answer from unnest(${arrays}) with ordinality as asked (${names}, n)
      cross join lateral (${text.replaceAll(/\$(\d+)/g, 'asked.p$1')} limit 1) answer`,
  );
  const askAll = (em: Em, questions: readonly Question<Row>[]): Promise<Answer<Row>[]> =>
    ask(
      em,
      types.map((_, index) => questions.map(({ parameters }) => parameters[index])),
    );
  const queues = new WeakMap<object, Queue<Row>>();
  return async (em, parameters) => {
    if (TransactionContext.getEntityManager()?.isInTransaction()) return (await askAll(em, [{ parameters, ...nobody }]))[0]?.answer;
    const connection = em.getConnection();
    const queue = queues.get(connection) ?? new Queue<Row>((questions) => askAll(em, questions));
    queues.set(connection, queue);
    return queue.ask(parameters);
  };
}

const nobody = { resolve: () => undefined, reject: () => undefined };

class Queue<Row> {
  readonly #askAll: (questions: readonly Question<Row>[]) => Promise<Answer<Row>[]>;
  #waiting: Question<Row>[] = [];
  #running = 0;
  #scheduled = false;

  constructor(askAll: (questions: readonly Question<Row>[]) => Promise<Answer<Row>[]>) {
    this.#askAll = askAll;
  }

  ask(parameters: readonly unknown[]): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ parameters, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= runningMax || this.#waiting.length === 0) return;
    this.#scheduled = true;
    // after everything that arrived in this turn was read
    outsideRequests(() => setImmediate(() => void this.#run()));
  }

  async #run(): Promise<void> {
    const questions = this.#waiting.splice(0, batchMax);
    this.#scheduled = false;
    this.#running += 1;
    this.#schedule();
    await this.#answer(questions);
    this.#running -= 1;
    this.#schedule();
  }

  async #answer(questions: readonly Question<Row>[]): Promise<void> {
    try {
      // equal questions are one: many requests at once are often of one caller, with one token
      const keys = questions.map(({ parameters }) => JSON.stringify(parameters));
      const asked = [...new Map(questions.map((question, index) => [keys[index], question]))];
      const rows = new Map((await this.#askAll(asked.map(([, question]) => question))).map(({ n, answer }) => [asked[n - 1]?.[0], answer]));
      for (const [index, { resolve }] of questions.entries()) resolve(rows.get(keys[index]));
    } catch (error) {
      // whose question it was that PostgreSQL objects to shows when each is asked again by itself
      if (questions.length > 1 && sqlState(error) !== undefined) for (const question of questions) await this.#answer([question]);
      else for (const { reject } of questions) reject(error);
    }
  }
}
