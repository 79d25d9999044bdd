import { openDatabaseWithEntities, type OpenOptions as OrmOptions } from '../database/open-database-with-entities.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import * as entities from './database-entities.ts';

export type OpenDatabaseOptions = Omit<OrmOptions, 'entities'>;

/**
 * Opens the Mandate database as is, without running migrations.
 * @param url `postgres://…`, or a directory (or `memory://`) for PGlite
 */
export const openDatabaseWithoutMigrating = (url: string, options: OpenDatabaseOptions = {}): Promise<Database> =>
  openDatabaseWithEntities(url, { entities: Object.values(entities), ...options });
