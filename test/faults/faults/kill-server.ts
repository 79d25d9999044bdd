import type { Fault } from '../scenario.ts';
import type { Stage } from '../environments/environment.ts';

/** `kill -9`, now of the one, now of the other; it is started again at once. */
export const killServer: Fault<Stage> = {
  name: 'kill-server',
  title: '`kill -9` of one of two servers',
  async strike({ servers }, { nth }) {
    const since = performance.now();
    await servers[nth % servers.length]?.dieAndRise();
    return { since };
  },
};

/** Of all of them at once: nobody answers until one is back. */
export const killServers: Fault<Stage> = {
  name: 'kill-servers',
  title: '`kill -9` of both servers at once',
  async strike({ servers }) {
    const since = performance.now();
    await Promise.all(servers.map((server) => server.die()));
    await Promise.all(servers.map((server) => server.live()));
    return { since };
  },
};
