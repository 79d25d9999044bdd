import { join } from 'node:path';
import { openDatabase } from '../../../server/schema/open-database.ts';
import { runServer } from '../../support/server/server-process.ts';
import type { Fault, Scene } from '../scenario.ts';
import { Stage, startServers } from './environment.ts';

/** One server on PGlite. */
export class EmbeddedStage extends Stage {
  /** While the server is gone: nobody else can open its database. */
  override async sql(text: string): Promise<readonly object[]> {
    const [server] = this.servers;
    await server?.die();
    const db = await openDatabase(join(this.dataDirectory, 'database'));
    const rows = await db.em.fork().execute<object[]>(text);
    await db.close();
    await server?.live();
    return rows;
  }
}

const killEmbedded: Fault<EmbeddedStage> = {
  name: 'kill-embedded',
  title: '`kill -9` of the server on PGlite',
  async strike({ servers: [server] }) {
    const since = performance.now();
    await server?.dieAndRise();
    return { since };
  },
};

const shareDirectory: Fault<EmbeddedStage> = {
  name: 'share-directory',
  title: 'a second server on the data directory of the first (PGlite)',
  async strike({ dataDirectory }) {
    const since = performance.now();
    const { code, output } = await runServer({ MANDATE_DATA_DIR: dataDirectory });
    if (code !== 1 || !output.includes('is in use by another process')) throw new Error(`it ended with ${code}: ${output}`);
    return { since, note: 'refused' };
  },
};

export const embedded: Scene<EmbeddedStage> = {
  open: async () => new EmbeddedStage(await startServers(1, () => ({}))),
  faults: [killEmbedded, shareDirectory],
};
