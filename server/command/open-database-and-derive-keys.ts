import type { Config } from '../config/read-config.ts';
import { DataDirectoryInUseError } from '../database/embedded/pglite-directory-lock.ts';
import { openDatabaseWithoutMigrating } from '../schema/open-database-without-migrating.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import { deriveKeys, findStoredServerSecret, type DerivedKeys } from '../crypto/derived-keys-and-server-secret.ts';
import { CommandError } from '../process/command-error.ts';

type DatabaseSettings = Pick<Config, 'databaseUrl' | 'directDatabaseUrl' | 'preparedStatements' | 'dataDirectory' | 'secret'>;

/**
 * Opens the database without timeouts, for a maintenance command. Servers can use the database at the same time.
 * @param alternative advice for the operator that is added to the error if a running server has locked the embedded database
 */
export async function openDatabaseRunAndClose<Result>(
  { databaseUrl, directDatabaseUrl, preparedStatements }: DatabaseSettings,
  alternative: string,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const options = { timeouts: 'none', connectionsMax: 3, preparedStatements } as const;
  const db = await openDatabaseWithoutMigrating(directDatabaseUrl ?? databaseUrl, options).catch((error: unknown) => {
    if (error instanceof DataDirectoryInUseError) throw new CommandError(`${error.message}. ${alternative}`);
    throw error;
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Derives the keys of an existing installation. Unlike the first server start, this function never generates a secret. */
export async function deriveKeysFromExistingSecret({
  secret,
  dataDirectory,
}: Pick<DatabaseSettings, 'secret' | 'dataDirectory'>): Promise<DerivedKeys> {
  const existing = secret ?? (await findStoredServerSecret(dataDirectory));
  if (existing !== undefined) return deriveKeys(existing);
  throw new CommandError(
    `there is no secret: set MANDATE_SECRET to the secret of the server. In development, the server generated one in its data directory, in the file \`secret\``,
  );
}
