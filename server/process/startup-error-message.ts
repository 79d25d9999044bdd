import { BackupError } from '../backup/backup-error.ts';
import { CommandFailure } from './command-failure.ts';
import { ConfigurationError } from '../config/config.ts';
import { PoolerError } from '../database/connection/connection-pooler.ts';
import { DataDirectoryInUseError } from '../database/embedded/pglite-directory-lock.ts';
import { MissingExtensionError } from '../database/connection/trigram-extension.ts';
import { DatabaseUnavailableError } from '../database/connection/wait-for-database.ts';
import { WrongSecretError } from '../oauth/signing-keys/encrypted-jwk.ts';

const inWords = [
  BackupError,
  CommandFailure,
  ConfigurationError,
  DatabaseUnavailableError,
  DataDirectoryInUseError,
  MissingExtensionError,
  PoolerError,
  WrongSecretError,
];

/** What somebody can put right is said in a sentence, everything else with all there is to know. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : undefined;
  if (code !== undefined || inWords.some((known) => error instanceof known)) return error.message || `${code}`;
  return error.stack ?? error.message;
}
