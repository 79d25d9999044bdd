import type { Config } from '../config/config.ts';
import { DataDirectoryInUseError } from '../database/embedded/pglite-directory-lock.ts';
import { openDatabase } from '../schema/open-database.ts';
import type { Database } from '../database/entity-manager/entity-manager.ts';
import { deriveKeys, existingSecret, type SecretKeys } from '../crypto/derived-keys.ts';
import { CommandFailure } from '../process/command-failure.ts';

type Storage = Pick<Config, 'databaseUrl' | 'directDatabaseUrl' | 'preparedStatements' | 'dataDirectory' | 'secret'>;

/**
 * Work on the database beside the servers that use it, as patient as migrations are.
 * @param otherwise what to do where a running server has the embedded database for itself
 */
export async function withDatabase<Result>(
  { databaseUrl, directDatabaseUrl, preparedStatements }: Storage,
  otherwise: string,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const opening = { timeouts: 'none', connectionsMax: 3, preparedStatements } as const;
  const db = await openDatabase(directDatabaseUrl ?? databaseUrl, opening).catch((error: unknown) => {
    if (error instanceof DataDirectoryInUseError) throw new CommandFailure(`${error.message}. ${otherwise}`);
    throw error;
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** The keys of an installation that there is: no secret is made up, as a first start does. */
export async function keysOf({ secret, dataDirectory }: Pick<Storage, 'secret' | 'dataDirectory'>): Promise<SecretKeys> {
  const existing = secret ?? (await existingSecret(dataDirectory));
  if (existing !== undefined) return deriveKeys(existing);
  throw new CommandFailure(
    `there is no secret: set MANDATE_SECRET to that of the server. In development it made one up, which lies in its data directory in the file \`secret\``,
  );
}
