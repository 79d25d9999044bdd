import { runServerUntilExit } from '../../support/server/server-process.ts';
import type { Fault, Scenario } from './scenario.ts';
import { EmbeddedEnvironment } from '../environments/embedded-environment.ts';
import { startServers } from '../environments/environment.ts';

const killEmbedded: Fault<EmbeddedEnvironment> = {
  name: 'kill-embedded',
  title: '`kill -9` of the server on PGlite',
  async inject({ servers: [server] }) {
    const since = performance.now();
    await server?.killAndRestart();
    return { since };
  },
};

const shareDirectory: Fault<EmbeddedEnvironment> = {
  name: 'share-directory',
  title: 'a second server on the data directory of the first (PGlite)',
  async inject({ dataDirectory }) {
    const since = performance.now();
    const { code, output } = await runServerUntilExit({ MANDATE_DATA_DIR: dataDirectory });
    if (code !== 1 || !output.includes('is in use by another process')) throw new Error(`the server exited with ${code}: ${output}`);
    return { since, note: 'refused' };
  },
};

export const embeddedScenario: Scenario<EmbeddedEnvironment> = {
  open: async () => new EmbeddedEnvironment(await startServers(1, () => ({}))),
  faults: [killEmbedded, shareDirectory],
};
