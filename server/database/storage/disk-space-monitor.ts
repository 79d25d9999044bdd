import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

const walSegmentBytes = 16 * 1024 * 1024;

/** Minimum free disk space: two WAL segments. If PGlite cannot create a WAL segment, its next statement never returns. */
export const diskSpaceReserveBytes = 2 * walSegmentBytes;

/**
 * How long the result of a check is reused. Within this time, even all processes on the machine combined cannot fill the reserve. A check
 * takes about 15 microseconds.
 */
const checkIntervalMs = 10;

/** Disk space required for a new embedded database with the demonstration shop. */
const newDatabaseBytes = 96 * 1024 * 1024;

/** Thrown if disk space is low. The error has the SQLSTATE that PostgreSQL uses for a full disk. */
export class InsufficientStorageError extends Error {
  override readonly name = 'InsufficientStorageError';
  readonly code = '53100';
  /** Callers check this property instead of the class, because MikroORM converts errors to its own error classes. */
  readonly isWriteRefusal = true;
}

/**
 * Returns whether a write was rejected because disk space is low. Low disk space is logged only once, so callers do not log these failures.
 */
export const isLowDiskSpaceRejectionError = (error: unknown): boolean =>
  error instanceof Error && ('isWriteRefusal' in error || isLowDiskSpaceRejectionError(error.cause));

export type StorageLog = Record<'error' | 'info', (details: object, message: string) => void>;

/** Monitors an embedded database's free disk space. Writes are rejected while the free space is below the reserve. */
export class DiskSpaceMonitor {
  readonly #directory: string;
  readonly #log: StorageLog | undefined;
  #isLow = false;
  #checkedAt = -Infinity;

  /** @param log records when disk space becomes low and when enough space is available again */
  constructor(directory: string, log?: StorageLog) {
    this.#directory = directory;
    this.#log = log;
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#directory);
    return bavail * bsize;
  }

  /** Whether there is enough space for another WAL segment. */
  get hasSegment(): boolean {
    return this.freeBytes >= walSegmentBytes;
  }

  isLow(): boolean {
    const now = performance.now();
    if (now - this.#checkedAt < checkIntervalMs) return this.#isLow;
    this.#checkedAt = now;
    const { freeBytes } = this;
    const isLow = freeBytes < diskSpaceReserveBytes;
    if (isLow !== this.#isLow) this.#report(isLow, freeBytes);
    this.#isLow = isLow;
    return isLow;
  }

  #report(isLow: boolean, freeBytes: number): void {
    const details = { directory: this.#directory, free_bytes: freeBytes, reserve_bytes: diskSpaceReserveBytes };
    if (isLow) this.#log?.error(details, 'disk space is low: writes are rejected until space is freed, reads continue');
    else this.#log?.info(details, 'disk space is available again: writes continue');
  }
}

/**
 * Checks the free space before PGlite opens or creates a database. Both operations write to the disk, and fail without a useful message if
 * the disk is full.
 * @throws {InsufficientStorageError} if there is too little space; the message states how much is required
 */
export function assertDiskSpaceToOpenDatabase(directory: string, isNew: boolean): void {
  const { freeBytes } = new DiskSpaceMonitor(isNew ? dirname(directory) : directory);
  const required = isNew ? newDatabaseBytes : diskSpaceReserveBytes;
  if (freeBytes >= required) return;
  const purpose = isNew ? 'a new embedded database' : 'opening the embedded database';
  throw new InsufficientStorageError(
    `${directory}: ${purpose} requires ${megabytes(required)} MB of free disk space, and ${megabytes(freeBytes)} MB are free. ` +
      'Free disk space, or move MANDATE_DATA_DIR to a larger disk.',
  );
}

const megabytes = (bytes: number): number => Math.floor(bytes / 1024 / 1024);
