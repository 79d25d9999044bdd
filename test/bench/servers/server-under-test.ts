import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/network/free-port.ts';
import { processorSeconds } from '../measurements/cpu-time.ts';

/** A server under measurement, in a process of its own; what it writes goes to a file, as it would in service. */
export type Candidate = {
  readonly origin: string;
  /** Seconds of processor time it has used so far, in its own code and in the system's. */
  readonly cpuSeconds: () => Promise<number>;
  /** Resident memory, in MB. */
  readonly memoryMb: () => Promise<number>;
  readonly stop: () => Promise<void>;
};

const startMaxMs = 60_000;

/** None outlives this process, however it ends. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Resolves when it answers at `probe`. */
export async function startCandidate(
  program: string,
  env: Readonly<Record<string, string>>,
  logFile: string,
  probe = '/api/v1/products',
): Promise<Candidate> {
  const port = String(await freePort());
  const log = await open(logFile, 'a');
  const child = spawn(process.execPath, [program], {
    env: { NODE_ENV: 'production', ...env, PORT: port },
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  running.add(child);
  child.once('exit', () => running.delete(child));
  const origin = `http://127.0.0.1:${port}`;
  await answering(child, `${origin}${probe}`, program, logFile);
  return {
    origin,
    cpuSeconds: () => processorSeconds(child.pid ?? 0),
    memoryMb: () => residentMb(child),
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function answering(child: ChildProcess, url: string, program: string, logFile: string): Promise<void> {
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
  throw new Error(`${program} does not answer:\n${await readFile(logFile, 'utf8')}`);
}

async function residentMb({ pid }: ChildProcess): Promise<number> {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
