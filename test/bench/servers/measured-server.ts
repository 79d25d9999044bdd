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
/** Time after which a server that has not stopped is killed. */
const stopMaxMs = 20_000;

/** Functions that send signals to the running servers. All servers are killed when this process exits. */
const running = new Set<(signal: NodeJS.Signals) => void>();
process.once('exit', () => {
  for (const send of running) send('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** A program that listens on `port`, and its settings. */
export type ServerCommand = {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly port: number;
  /** Path that returns status 200 when the server is ready. */
  readonly probe: string;
  readonly workingDirectory?: string;
  /**
   * Whether signals are sent to all processes of the program. Set this for a program that starts the server in a child process and does not
   * forward signals to it.
   */
  readonly startsServerInChild?: boolean;
  /** Maximum time until the server is ready, in milliseconds (default: one minute). */
  readonly startMaxMs?: number;
};

/** Starts one of our programs and waits until `probe` returns status 200. */
export async function startMeasuredServer(
  program: string,
  env: Readonly<Record<string, string>>,
  logFile: string,
  probe = '/api/v1/products',
): Promise<MeasuredServer> {
  const port = await findFreePort();
  const command = [process.execPath, program];
  return startMeasuredCommand({ command, env: { NODE_ENV: 'production', ...env, PORT: String(port) }, port, probe }, logFile);
}

/** Starts a server and waits until it is ready. */
export async function startMeasuredCommand(server: ServerCommand, logFile: string): Promise<MeasuredServer> {
  const [program = '', ...args] = server.command;
  const log = await open(logFile, 'a');
  const { workingDirectory: cwd, env, startsServerInChild: detached = false } = server;
  const child = spawn(program, args, { cwd, env, detached, stdio: ['ignore', log.fd, log.fd] });
  await log.close();
  const send = (signal: NodeJS.Signals): void => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    if (detached && child.pid !== undefined) process.kill(-child.pid, signal);
    else child.kill(signal);
  };
  running.add(send);
  child.once('exit', () => running.delete(send));
  const origin = `http://127.0.0.1:${server.port}`;
  try {
    await waitUntilReady(child, `${origin}${server.probe}`, logFile, server.startMaxMs ?? startMaxMs);
  } catch (error) {
    send('SIGKILL');
    throw error;
  }
  return {
    origin,
    cpuSeconds: () => processTreeCpuSeconds(child.pid ?? 0),
    memoryMb: () => residentMb(child),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      send('SIGTERM');
      const kill = setTimeout(() => send('SIGKILL'), stopMaxMs);
      await exited;
      clearTimeout(kill);
    },
  };
}

async function waitUntilReady(child: ChildProcess, url: string, logFile: string, maxMs: number): Promise<void> {
  const begun = performance.now();
  while (child.exitCode === null && performance.now() - begun < maxMs) {
    const status = await fetch(url).then(
      ({ status: code }) => code,
      () => 0,
    );
    if (status === 200) return;
    await sleep(5);
  }
  throw new Error(`${child.spawnargs.join(' ')} does not respond:\n${await readFile(logFile, 'utf8')}`);
}

async function residentMb({ pid }: ChildProcess): Promise<number> {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
