import { randomUUID } from 'node:crypto';
import { link, readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const waitMaxMs = 15_000;
const heartbeatMs = 2_000;
/** Time without a heartbeat after which a lock is treated as abandoned. */
const staleAfterMs = 10_000;
const pollMs = 25;

/** Runs `work` while holding an exclusive lock across processes. */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const owner = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() });
  await acquire(path, owner);
  const heartbeat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if ((await readIfExists(path)) === owner) await removeIfExists(path);
  }
}

async function acquire(path: string, owner: string): Promise<void> {
  const deadline = Date.now() + waitMaxMs;
  // Creating a hard link is atomic: the lock file never exists without its content, so no process ever reads a lock without an owner.
  const temporaryPath = `${path}.${randomUUID()}`;
  await writeFile(temporaryPath, owner, { mode: 0o600 });
  try {
    while (!(await createLink(temporaryPath, path))) {
      await removeIfAbandoned(path);
      if (Date.now() > deadline) throw new Error(`another process has held the lock ${path} for ${waitMaxMs / 1000} s`);
      await sleep(pollMs);
    }
    // A new link has the modification time of the temporary file, which is outdated if the process had to wait for the lock.
    await utimes(path, new Date(), new Date());
  } finally {
    await removeIfExists(temporaryPath);
  }
}

/**
 * Removes the lock of a process that is no longer running. Several processes can detect such a lock at the same time, and a slow process
 * must not remove the lock that a faster one has acquired. Therefore, a process removes the lock only if it has created a marker named
 * after the old owner and has checked the owner again.
 */
async function removeIfAbandoned(path: string): Promise<void> {
  const owner = await readIfExists(path);
  if (owner === undefined || !(await isAbandoned(path, owner))) return;
  const marker = `${path}.${ownerId(owner)}.gone`;
  if (await isStale(marker)) await removeIfExists(marker);
  if (!(await createEmptyFile(marker))) return;
  try {
    if ((await readIfExists(path)) === owner) await removeIfExists(path);
  } finally {
    await removeIfExists(marker);
  }
}

async function isAbandoned(path: string, owner: string): Promise<boolean> {
  const [, pid, host] = /^\{"pid":(\d+),"host":"([^"]*)"/.exec(owner) ?? [];
  return (host === hostname() && !isRunning(Number(pid))) || isStale(path);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process exists but belongs to another user.
    return errorCode(error) === 'EPERM';
  }
}

const isStale = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > staleAfterMs;
};

const ownerId = (owner: string): string => /"id":"([\w-]+)"/.exec(owner)?.[1] ?? 'unknown';

const readIfExists = (path: string): Promise<string | undefined> => ignoreError('ENOENT', readFile(path, 'utf8'));

const createLink = async (temporaryPath: string, path: string): Promise<boolean> =>
  (await ignoreError(
    'EEXIST',
    link(temporaryPath, path).then(() => true),
  )) ?? false;

const createEmptyFile = async (path: string): Promise<boolean> =>
  (await ignoreError(
    'EEXIST',
    writeFile(path, '', { flag: 'wx', mode: 0o600 }).then(() => true),
  )) ?? false;

const removeIfExists = (path: string): Promise<void> => ignoreError('ENOENT', unlink(path));

async function ignoreError<T>(code: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === code) return undefined;
    throw error;
  }
}

const errorCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
