import { TransactionContext } from '@mikro-orm/sql';
import type { Em } from '../entity-manager/entity-manager.ts';
import { type Answer, type Bounds, type Parameters, QuestionQueue } from './batch-loader.ts';
import { statement } from './prepared-statement.ts';

/** For questions that cost next to nothing each: two queries at a time, of which each answers the more, the more is asked. */
const together: Bounds = { batchMax: 100, runningMax: 2 };
/** For questions that may take long: nobody waits for the answer of somebody else. */
const alone: Bounds = { batchMax: 1, runningMax: 10 };

type Ask<Result> = (em: Em, parameters: Parameters) => Promise<Result>;

/**
 * A read that is asked for together with others, as `QuestionQueue` says; within a transaction there, and by itself.
 * @param types PostgreSQL types of `$1`, `$2`, ...
 * @param text gives one value, as JSON, which is read at a fraction of the cost of columns: no number in it may be beyond 2^53
 */
function gathered<Result>(name: string | undefined, types: readonly string[], text: string, bounds: Bounds): Ask<Result | undefined> {
  const ask = statement<Answer<Result>>(
    name,
    `select asked.n, found.answer from ${questions(types)} cross join lateral (${text.replaceAll(/\$(\d+)/g, 'asked.p$1')}) found (answer)`,
  );
  const askAll = (em: Em, all: readonly Parameters[], tell?: (answer: Answer<Result>) => void): Promise<Answer<Result>[]> =>
    ask(
      em,
      types.map((_, index) => all.map((parameters) => parameters[index])),
      tell,
    );
  const queues = new WeakMap<object, QuestionQueue<Result>>();
  return async (em, parameters) => {
    if (TransactionContext.getEntityManager()?.isInTransaction()) return (await askAll(em, [parameters]))[0]?.answer;
    const connection = em.getConnection();
    const queue = queues.get(connection) ?? new QuestionQueue<Result>((all, tell) => askAll(em, all, tell), bounds);
    queues.set(connection, queue);
    return queue.ask(parameters);
  };
}

/**
 * The parameters of all questions, an array for each; without any all questions are the same one. By `select` their length is out of
 * the planner's sight: else a plan for just so many would always look cheaper than the one that is kept, and be made every time.
 */
function questions(types: readonly string[]): string {
  if (types.length === 0) return '(select 1 as n) asked';
  const arrays = types.map((type, index) => `(select $${index + 1}::${type}[])`).join(', ');
  return `unnest(${arrays}) with ordinality as asked (${types.map((_, index) => `p${index + 1}`).join(', ')}, n)`;
}

/** @param text finds at most one row by an index, and ends where `limit` would stand */
export const gatheredStatement = <Row>(name: string, types: readonly string[], text: string): Ask<Row | undefined> =>
  // the limit keeps it one look-up for each, whatever the planner believes of the table
  gathered<Row>(name, types, `select to_json(answer) from (${text} limit 1) answer`, together);

/** @param text finds rows in an order; `limit` in it must be a number, for it cannot be another for each who asks */
export function listStatement<Row>(
  name: string | undefined,
  types: readonly string[],
  text: string,
  cost: 'even' | 'any',
): Ask<readonly Row[]> {
  const bounds = cost === 'even' ? together : alone;
  const ask = gathered<readonly Row[] | null>(name, types, `select json_agg(answer) from (${text}) answer`, bounds);
  return async (em, parameters) => (await ask(em, parameters)) ?? [];
}
