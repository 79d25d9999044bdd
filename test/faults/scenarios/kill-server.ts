import type { Fault } from './scenario.ts';
import type { FaultEnvironment } from '../environments/environment.ts';

/** Kills one server and restarts it immediately, alternating between the servers. */
export const killServer: Fault<FaultEnvironment> = {
  name: 'kill-server',
  title: '`kill -9` of one of two servers',
  async inject({ servers }, { nth }) {
    const since = performance.now();
    await servers[nth % servers.length]?.killAndRestart();
    return { since };
  },
};

/** Kills all servers simultaneously, so that the service is unavailable until one server has restarted. */
export const killServers: Fault<FaultEnvironment> = {
  name: 'kill-servers',
  title: '`kill -9` of both servers at once',
  async inject({ servers }) {
    const since = performance.now();
    await Promise.all(servers.map((server) => server.kill()));
    await Promise.all(servers.map((server) => server.start()));
    return { since };
  },
};
