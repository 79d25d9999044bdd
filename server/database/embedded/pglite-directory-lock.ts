import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another process has the data directory, or this one has it already. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';
}

/**
 * PGlite lets two processes open one directory, and then the data is broken. The operating system holds this lock
 * for us and drops it when the process is gone, however it went: nothing goes stale, nothing has to be stolen.
 * The lock file lies beside the directory, because a new database wants an empty one.
 */
export function lockDataDirectory(directory: string): () => void {
  mkdirSync(dirname(directory), { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(`${directory}.lock`);
  try {
    lock.exec('begin exclusive');
  } catch (cause) {
    lock.close();
    throw new DataDirectoryInUseError(`${directory} is in use by another process`, { cause });
  }
  return () => lock.close();
}
