import type { Database } from './entity-manager/entity-manager-type.ts';

/** Returns whether the database responds to a query. This function never throws. */
export const isDatabaseResponsive = async (db: Database): Promise<boolean> => {
  const connection = db.em.getConnection();
  await connection.ensureConnection().catch(() => undefined);
  return connection.isConnected();
};
