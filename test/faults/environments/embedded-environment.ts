import { join } from 'node:path';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { FaultEnvironment } from './environment.ts';

/** One server on PGlite. */
export class EmbeddedEnvironment extends FaultEnvironment {
  /** Stops the server while the statement is running, because two processes cannot open the embedded database at the same time. */
  override async sql(text: string): Promise<readonly object[]> {
    const [server] = this.servers;
    await server?.kill();
    const db = await openDatabaseWithoutMigrating(join(this.dataDirectory, 'database'));
    const rows = await db.em.fork().execute<object[]>(text);
    await db.close();
    await server?.start();
    return rows;
  }
}
