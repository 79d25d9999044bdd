import { prepareStatement } from '../database/queries/prepared-statement.ts';

// Written in SQL because MikroORM selects only from tables.
export const readDatabaseNameAndVersion = prepareStatement<{ name: string; version: string }>(
  undefined,
  `select current_database() as name, current_setting('server_version') as version`,
);
