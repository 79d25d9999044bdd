import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../support/network/free-port.ts';
import { processTreeCpuSeconds } from './cpu-time.ts';

/** A measured server in a separate process. As in production, the server writes its log to a file. */
export type MeasuredServer = {
  readonly origin: string;
  /** CPU time that the server has used so far in user and system mode, in seconds. */
  readonly cpuSeconds: () => Promise<number>;
  /** Resident memory, in MB. */
  readonly memoryMb: () => Promise<number>;
  readonly stop: () => Promise<void>;
};

const startMaxMs = 60_000;

/** Child processes, which are killed when this process exits. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Starts a server and waits until `probe` returns status 200. */
export async function startMeasuredServer(
  program: string,
  env: Readonly<Record<string, string>>,
  logFile: string,
  probe = '/api/v1/products',
): Promise<MeasuredServer> {
  const port = String(await findFreePort());
  const log = await open(logFile, 'a');
  const child = spawn(process.execPath, [program], {
    env: { NODE_ENV: 'production', ...env, PORT: port },
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  running.add(child);
  child.once('exit', () => running.delete(child));
  const origin = `http://127.0.0.1:${port}`;
  await waitUntilReady(child, `${origin}${probe}`, program, logFile);
  return {
    origin,
    cpuSeconds: () => processTreeCpuSeconds(child.pid ?? 0),
    memoryMb: () => residentMb(child),
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function waitUntilReady(child: ChildProcess, url: string, program: string, logFile: string): Promise<void> {
  const begun = performance.now();
  while (child.exitCode === null && performance.now() - begun < startMaxMs) {
    const status = await fetch(url).then(
      ({ status: code }) => code,
      () => 0,
    );
    if (status === 200) return;
    await sleep(5);
  }
  child.kill('SIGKILL');
  throw new Error(`${program} does not respond:\n${await readFile(logFile, 'utf8')}`);
}

async function residentMb({ pid }: ChildProcess): Promise<number> {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
