import { BackupError } from '../backup/backup-error.ts';
import { ConfigurationError } from '../config.ts';
import { DataDirectoryInUseError } from '../database/data-directory-lock.ts';
import { WrongSecretError } from '../oauth/sealed-jwk.ts';
import { CommandFailure } from './command-failure.ts';

const inWords = [CommandFailure, BackupError, ConfigurationError, DataDirectoryInUseError, WrongSecretError];

/** What somebody can put right is said in a sentence, everything else with all there is to know. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (inWords.some((known) => error instanceof known)) return error.message;
  const code = 'code' in error ? String(error.code) : undefined;
  return code === undefined ? (error.stack ?? error.message) : error.message || code;
}
