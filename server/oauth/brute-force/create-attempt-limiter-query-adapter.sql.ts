import { CompiledQuery } from 'kysely';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';

type CounterStatement = { readonly text: string; readonly values: unknown[] };

/** Creates the database client that rate-limiter-flexible uses to send its statements outside any transaction. */
export const createAttemptLimiterQueryAdapter = (em: EntityManager) => ({
  // Written in SQL because the library generates these statements.
  async query({ text, values }: CounterStatement) {
    const { rows } = await em.fork().getKysely().executeQuery(CompiledQuery.raw(text, values));
    return { rows, rowCount: rows.length };
  },
});
