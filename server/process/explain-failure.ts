import { ConfigurationError } from '../config.ts';
import { DataDirectoryInUseError } from '../database/data-directory-lock.ts';

/** What somebody can put right is said in a sentence, everything else with all there is to know. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : undefined;
  if (error instanceof ConfigurationError || error instanceof DataDirectoryInUseError || code) return error.message || `${code}`;
  return error.stack ?? error.message;
}
