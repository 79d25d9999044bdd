import type { AbstractSqlDriver, MikroORM, SqlEntityManager } from '@mikro-orm/sql';

/** The entity manager that every function which reads or writes takes. */
export type EntityManager = SqlEntityManager;

/** The database of a process. One type for both drivers. */
export type Database = MikroORM<AbstractSqlDriver, EntityManager>;
