import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Thrown if the data directory is already open in this process or in another process. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';
}

/**
 * Locks the data directory, because PGlite does not prevent two processes from opening it at the same time and corrupting the database. The
 * operating system releases this lock when the process exits for any reason, so the lock never becomes stale. The lock file is next to the
 * directory, because a new database requires an empty directory.
 */
export function lockPgliteDirectory(directory: string): () => void {
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
