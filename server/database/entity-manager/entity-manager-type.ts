import type { AbstractSqlDriver, MikroORM, SqlEntityManager } from '@mikro-orm/sql';

/** The entity manager, a parameter of every function that reads or writes the database. */
export type EntityManager = SqlEntityManager;

/** The database of a process. Both drivers share this type. */
export type Database = MikroORM<AbstractSqlDriver, EntityManager>;
