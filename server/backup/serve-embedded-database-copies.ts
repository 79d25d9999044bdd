import { once } from 'node:events';
import { constants } from 'node:fs';
import { chmod, cp, glob, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { DataDirectoryInUseError, lockPgliteDirectory } from '../database/embedded/pglite-directory-lock.ts';
import { writeCheckpoint } from '../database/embedded/check-wal-and-write-checkpoint.sql.ts';
import { isPostgresqlUrl } from '../database/connection/is-postgresql-url.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import type { Log } from '../logging/logger.ts';

/** Path of the socket next to the data directory; the socket exists only while a server is running. */
export const getBackupSocketPath = (directory: string): string => `${directory}.socket`;

const databaseCopyPath = (copyDirectory: string): string => join(copyDirectory, 'database');
const copyDirectoryPrefix = (directory: string): string => `${directory}.copy-`;

/**
 * Provides copies of the embedded database for backups, because a running server locks the database. A client that can access the data
 * directory connects to the socket and receives the path of a copy, which only the server's user can read. API requests have to wait only
 * while the files are being copied. The copy is deleted when the client disconnects.
 * @returns a function that stops the service
 */
export async function serveEmbeddedDatabaseCopies(db: Database, directory: string, log: Log): Promise<() => Promise<void>> {
  // PostgreSQL needs no copy, and Node.js does not support sockets in the file system on Windows
  if (isPostgresqlUrl(directory) || process.platform === 'win32') return async () => undefined;
  await removeOldCopies(directory);
  let copying = Promise.resolve();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', (error) => log.warn({ err: error }, 'the client of a database copy disconnected'));
    socket.resume();
    // one copy at a time, because each copy needs as much space as the database
    copying = copying.then(() => serveCopy(db, directory, socket, log));
  });
  await listen(server, getBackupSocketPath(directory), log);
  return async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await copying;
  };
}

async function listen(server: Server, path: string, log: Log): Promise<void> {
  await rm(path, { force: true }); // only a killed process can have left the socket behind, because this process has locked the database
  try {
    server.listen(path);
    await once(server, 'listening');
    await chmod(path, 0o600);
  } catch (error) {
    log.warn(
      { err: error, path },
      'no backup can be created while this server runs, because it cannot create a socket in its data directory',
    );
  }
}

async function serveCopy(db: Database, directory: string, socket: Socket, log: Log): Promise<void> {
  if (socket.destroyed) return;
  const copyDirectory = await mkdtemp(copyDirectoryPrefix(directory));
  try {
    const copy = databaseCopyPath(copyDirectory);
    await copyDatabaseFiles(db, directory, copy);
    socket.write(`${JSON.stringify({ copy })}\n`);
    if (!socket.destroyed) await once(socket, 'close');
  } catch (error) {
    log.error({ err: error }, 'the database could not be copied');
    socket.end(`${JSON.stringify({ refused: 'the server could not copy the database; its log has the cause' })}\n`);
  } finally {
    await removeIfUnused(copyDirectory);
  }
}

/**
 * Copies the files inside a transaction. No other query can write in the meantime, because the embedded database has a single connection.
 */
async function copyDatabaseFiles(db: Database, directory: string, copy: string): Promise<void> {
  await db.em.fork().transactional(async (em) => {
    await writeCheckpoint(em);
    await cp(directory, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
  });
}

async function removeOldCopies(directory: string): Promise<void> {
  for await (const copyDirectory of glob(`${copyDirectoryPrefix(directory)}*`)) await removeIfUnused(copyDirectory);
}

/** Deletes a copy that no backup is using. A copy in use is deleted when its backup is complete. */
async function removeIfUnused(copyDirectory: string): Promise<void> {
  try {
    const release = lockPgliteDirectory(databaseCopyPath(copyDirectory));
    await rm(copyDirectory, { recursive: true, force: true });
    release();
  } catch (error) {
    if (!(error instanceof DataDirectoryInUseError)) throw error;
  }
}
