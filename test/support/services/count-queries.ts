import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';

/** Starts counting the statements and transactions that the database executes. The returned function returns the current count. */
export function countQueries(db: Database): () => number {
  const executor = db.em.getConnection().getClient().getExecutor();
  const provideConnection = executor.provideConnection.bind(executor);
  let count = 0;
  executor.provideConnection = (consumer, options) => {
    count += 1;
    return provideConnection(consumer, options);
  };
  return () => count;
}
