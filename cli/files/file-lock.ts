import { randomUUID } from 'node:crypto';
import { link, readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const waitMaxMs = 15_000;
const heartbeatMs = 2_000;
/** Without a heartbeat for so long, the owner is taken for dead. */
const staleAfterMs = 10_000;
const pollMs = 25;

/** Runs `work` while no other process that asks for the same lock runs theirs. */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() });
  await acquire(path, mine);
  const heartbeat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if ((await contentOf(path)) === mine) await removed(path);
  }
}

async function acquire(path: string, mine: string): Promise<void> {
  const deadline = Date.now() + waitMaxMs;
  // A link appears with its content at once, so that nobody ever sees a lock without an owner.
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, mine, { mode: 0o600 });
  try {
    while (!(await created(draft, path))) {
      await removeIfAbandoned(path);
      if (Date.now() > deadline) throw new Error(`another process has been holding ${path} for ${waitMaxMs / 1000} s`);
      await sleep(pollMs);
    }
    // The link shares the draft's times, and writing may have been a while ago.
    await utimes(path, new Date(), new Date());
  } finally {
    await removed(draft);
  }
}

/**
 * Removes the lock of a process that is gone. Two may notice at once, and the slower one must not remove the lock
 * that the faster one has taken since: only who creates the marker named after the dead owner may, and looks again first.
 */
async function removeIfAbandoned(path: string): Promise<void> {
  const owner = await contentOf(path);
  if (owner === undefined || !(await isAbandoned(path, owner))) return;
  const marker = `${path}.${idOf(owner)}.gone`;
  if (await isOld(marker)) await removed(marker);
  if (!(await createdEmpty(marker))) return;
  try {
    if ((await contentOf(path)) === owner) await removed(path);
  } finally {
    await removed(marker);
  }
}

async function isAbandoned(path: string, owner: string): Promise<boolean> {
  const [, pid, host] = /^\{"pid":(\d+),"host":"([^"]*)"/.exec(owner) ?? [];
  return (host === hostname() && !isRunning(Number(pid))) || isOld(path);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists and belongs to somebody else.
    return codeOf(error) === 'EPERM';
  }
}

const isOld = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > staleAfterMs;
};

const idOf = (owner: string): string => /"id":"([\w-]+)"/.exec(owner)?.[1] ?? 'unknown';

const contentOf = (path: string): Promise<string | undefined> => unless('ENOENT', readFile(path, 'utf8'));

const created = async (draft: string, path: string): Promise<boolean> =>
  (await unless(
    'EEXIST',
    link(draft, path).then(() => true),
  )) ?? false;

const createdEmpty = async (path: string): Promise<boolean> =>
  (await unless(
    'EEXIST',
    writeFile(path, '', { flag: 'wx', mode: 0o600 }).then(() => true),
  )) ?? false;

const removed = (path: string): Promise<void> => unless('ENOENT', unlink(path));

async function unless<T>(code: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === code) return undefined;
    throw error;
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
