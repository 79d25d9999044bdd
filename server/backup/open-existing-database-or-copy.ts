import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { DataDirectoryInUseError } from '../database/embedded/pglite-directory-lock.ts';
import { isPostgresqlUrl } from '../database/connection/is-postgresql-url.ts';
import { openDatabaseWithoutMigrating, type OpenDatabaseOptions } from '../schema/open-database-without-migrating.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import { BackupError } from './backup-error.ts';
import { getBackupSocketPath } from './serve-embedded-database-copies.ts';

/**
 * Opens an existing database for reading, without migrating it. If a running server has locked an embedded database, opens a copy that
 * the server provides.
 * @param url `postgres://…`, or the directory of an embedded database
 */
export async function openExistingDatabaseOrCopy(
  url: string,
  options: Pick<OpenDatabaseOptions, 'onPool' | 'preparedStatements'>,
): Promise<Database> {
  if (isPostgresqlUrl(url)) return openDatabaseWithoutMigrating(url, { timeouts: 'none', connectionsMax: 2, ...options });
  if (!existsSync(join(url, 'PG_VERSION')))
    throw new BackupError(`there is no database at ${url}: set MANDATE_DATA_DIR or DATABASE_URL to the same value as for the server`);
  try {
    return await openDatabaseWithoutMigrating(url);
  } catch (error) {
    if (!(error instanceof DataDirectoryInUseError)) throw error;
    return openCopy(url, error);
  }
}

async function openCopy(directory: string, inUse: DataDirectoryInUseError): Promise<Database> {
  const socket = connect(getBackupSocketPath(directory));
  try {
    const copy = await receiveCopyPath(socket, inUse);
    const db = await openDatabaseWithoutMigrating(copy);
    const close = db.close.bind(db);
    db.close = async () => {
      await close();
      await rm(dirname(copy), { recursive: true, force: true });
      socket.destroy();
    };
    return db;
  } catch (error) {
    socket.destroy(); // the server removes the copy
    throw error;
  }
}

const replySchema = z.union([z.object({ copy: z.string() }), z.object({ refused: z.string() })]);

async function receiveCopyPath(socket: Socket, inUse: DataDirectoryInUseError): Promise<string> {
  let text = '';
  try {
    // the connection stays open, because closing it would make the server delete the copy
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      text += String(chunk);
      if (text.endsWith('\n')) break;
    }
  } catch (cause) {
    throw new BackupError(`${inUse.message}, which does not provide a copy: stop that process first`, { cause });
  }
  if (text === '') throw new BackupError(`${inUse.message}, which exited before it provided a copy: try again`);
  const reply = replySchema.parse(JSON.parse(text));
  if ('copy' in reply) return reply.copy;
  throw new BackupError(reply.refused);
}
