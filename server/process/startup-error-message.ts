import { BackupError } from '../backup/backup-error.ts';
import { CommandError } from './command-error.ts';
import { ConfigurationError } from '../config/read-config.ts';
import { UnsupportedPgLibraryError } from '../database/connection/assert-supported-pg-library.ts';
import { ConnectionPoolerError } from '../database/connection/check-connection-pooler.ts';
import { DataDirectoryInUseError } from '../database/embedded/pglite-directory-lock.ts';
import { MissingExtensionError } from '../database/connection/create-trigram-extension.ts';
import { DatabaseStartupError } from '../database/connection/wait-for-database.ts';
import { MissingPackageError } from '../optional-packages/import-module-requiring-optional-packages.ts';
import { WrongEncryptionSecretError } from '../oauth/signing-keys/encrypted-jwk.ts';

const selfExplanatoryErrors = [
  BackupError,
  CommandError,
  ConfigurationError,
  DatabaseStartupError,
  DataDirectoryInUseError,
  MissingExtensionError,
  MissingPackageError,
  ConnectionPoolerError,
  UnsupportedPgLibraryError,
  WrongEncryptionSecretError,
];

/** Returns only the message for errors that the operator can fix, and the stack for all other errors. */
export function formatStartupError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : undefined;
  if (code !== undefined || selfExplanatoryErrors.some((errorClass) => error instanceof errorClass)) return error.message || `${code}`;
  return error.stack ?? error.message;
}
