import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:net';
import { freePort } from '../network/free-port.ts';

/** Without a Redis on the machine (`apt-get install redis-server`), its tests are left out, and say so. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedis) process.stderr.write('Tests with Redis are left out: there is no redis-server on this machine.\n');

export type RedisServer = {
  readonly url: string;
  start(): Promise<void>;
  /** As a power switch does. */
  kill(): Promise<void>;
  /** It is there and answers nothing, until it goes on. */
  freeze(): void;
  goOn(): void;
};

/** A Redis of the test's own, in memory alone. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
    while (!(await answers(port))) await sleep(20);
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    async kill() {
      const dying = child;
      child = undefined;
      if (!dying) return;
      dying.kill('SIGKILL');
      await once(dying, 'exit');
    },
    freeze: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
  };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  const reached = await promise;
  socket.destroy();
  return reached;
}
