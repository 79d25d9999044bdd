import { once } from 'node:events';
import { constants } from 'node:fs';
import { chmod, cp, glob, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { DataDirectoryInUseError, lockDataDirectory } from '../database/embedded/pglite-directory-lock.ts';
import { isPostgresql } from '../database/connection/database-url.ts';
import type { Database } from '../database/entity-manager/entity-manager.ts';
import type { Log } from '../logging/logger.ts';

/** Beside the directory of an embedded database, while a server has it. */
export const copySocketPath = (directory: string): string => `${directory}.socket`;

const copyIn = (draft: string): string => join(draft, 'database');
const draftsOf = (directory: string): string => `${directory}.copy-`;

/**
 * A running server has its embedded database for itself. Who may use its directory can ask it here for a copy, to make a backup of:
 * requests wait while files are copied, and no longer. What is answered is the path of the copy, in a directory that only its owner can
 * read; when whoever asked goes away, so does the copy.
 * @returns what ends the offer
 */
export async function offerCopies(db: Database, directory: string, log: Log): Promise<() => Promise<void>> {
  // of PostgreSQL no copy is needed, and on Windows no file can be listened on
  if (isPostgresql(directory) || process.platform === 'win32') return async () => undefined;
  await removeDrafts(directory);
  let copying = Promise.resolve();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', (error) => log.warn({ err: error }, 'whoever asked for a copy of the database was lost'));
    socket.resume();
    // one at a time: each takes as much room as the database
    copying = copying.then(() => serve(db, directory, socket, log));
  });
  await listen(server, copySocketPath(directory), log);
  return async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await copying;
  };
}

async function listen(server: Server, path: string, log: Log): Promise<void> {
  await rm(path, { force: true }); // of a process that was killed: the database is ours, so nobody listens there
  try {
    server.listen(path);
    await once(server, 'listening');
    await chmod(path, 0o600);
  } catch (error) {
    log.warn({ err: error, path }, 'no backup can be made while this server runs: its data directory takes no socket');
  }
}

async function serve(db: Database, directory: string, socket: Socket, log: Log): Promise<void> {
  if (socket.destroyed) return;
  const draft = await mkdtemp(draftsOf(directory));
  try {
    const copy = copyIn(draft);
    await copyDirectory(db, directory, copy);
    socket.write(`${JSON.stringify({ copy })}\n`);
    if (!socket.destroyed) await once(socket, 'close');
  } catch (error) {
    log.error({ err: error }, 'the database could not be copied');
    socket.end(`${JSON.stringify({ refused: 'the server could not copy it: its log says why' })}\n`);
  } finally {
    await removeUnlessUsed(draft);
  }
}

/** Nothing is written meanwhile: the embedded database has one connection, and this is a transaction on it. */
async function copyDirectory(db: Database, directory: string, copy: string): Promise<void> {
  await db.em.fork().transactional(async (em) => {
    await em.execute('checkpoint');
    await cp(directory, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
  });
}

async function removeDrafts(directory: string): Promise<void> {
  for await (const draft of glob(`${draftsOf(directory)}*`)) await removeUnlessUsed(draft);
}

/** When this server ends, or has ended, before a backup does, its copy is still needed: whoever makes the backup removes it then. */
async function removeUnlessUsed(draft: string): Promise<void> {
  try {
    const release = lockDataDirectory(copyIn(draft));
    await rm(draft, { recursive: true, force: true });
    release();
  } catch (error) {
    if (!(error instanceof DataDirectoryInUseError)) throw error;
  }
}
