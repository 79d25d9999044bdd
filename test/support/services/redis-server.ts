import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptsConnections } from '../network/accepts-connections.ts';
import { findFreePort } from '../network/free-port.ts';

/** Whether Redis is installed (`apt-get install redis-server`). Without Redis, tests that need it are skipped. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedis) process.stderr.write('Tests with Redis are skipped: redis-server is not installed.\n');

export type RedisServer = {
  readonly url: string;
  start(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGSTOP, so that the server accepts connections but does not respond. */
  suspend(): void;
  resume(): void;
};

/** Starts a Redis server without persistence. */
export async function startRedis(): Promise<RedisServer> {
  const port = await findFreePort();
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
    while (!(await acceptsConnections(port))) await sleep(20);
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    async kill() {
      const killed = child;
      child = undefined;
      if (!killed) return;
      killed.kill('SIGKILL');
      await once(killed, 'exit');
    },
    suspend: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
  };
}
