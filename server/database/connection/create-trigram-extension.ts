import { getSqlState } from '../errors/sql-error-fields.ts';

/** Thrown if PostgreSQL's contrib modules are not installed, or if the database user may not create an extension. */
export class MissingExtensionError extends Error {
  override readonly name = 'MissingExtensionError';
}

/** SQLSTATEs feature_not_supported and undefined_file, which mean that the extension is not installed, and insufficient_privilege. */
const unavailableSqlStates = new Set(['0A000', '58P01', '42501']);

/** Creates the pg_trgm extension. This extension is trusted, so every user who may create objects in the database may create it. */
export async function createTrigramExtension(execute: (statement: string) => Promise<unknown>): Promise<void> {
  try {
    await execute('create extension if not exists pg_trgm');
  } catch (cause) {
    if (!unavailableSqlStates.has(getSqlState(cause) ?? '')) throw cause;
    throw new MissingExtensionError(
      'product search needs the PostgreSQL extension pg_trgm, which could not be created: install the contrib modules of PostgreSQL, or run "create extension pg_trgm" in this database as a superuser',
      { cause },
    );
  }
}
