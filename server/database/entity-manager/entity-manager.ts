import type { AbstractSqlDriver, MikroORM, SqlEntityManager } from '@mikro-orm/sql';

/** The entity manager, a parameter of every function that reads or writes the database. */
export type EntityManager = SqlEntityManager;

/** The database of a process. One type for both drivers. */
export type Database = MikroORM<AbstractSqlDriver, EntityManager>;
