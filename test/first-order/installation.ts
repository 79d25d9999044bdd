import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { freePort } from '../support/network/free-port.ts';
import { repository } from '../support/markdown.ts';

const account = z.object({ email: z.string(), password: z.string() });
const firstRun = z.object({ administrator: account, customer: account });
export type Account = z.infer<typeof account>;

export type Installation = {
  readonly url: string;
  readonly storefrontUrl: string;
  readonly accounts: z.infer<typeof firstRun>;
  /** Runs commands of a document in a shell, as they are but for the ports. `onOutput` is told everything written so far. */
  run(commands: readonly string[], onOutput?: (output: string) => void): Promise<string>;
  /** Starts a command that runs until the installation is closed. */
  start(command: string): void;
  close(): Promise<void>;
};

/** A directory like a clone with its packages: links to everything but data. */
export async function linkedClone(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'mandate-first-order-'));
  for (const name of await readdir(repository))
    if (!['.git', 'data'].includes(name)) await symlink(join(repository, name), join(path, name));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** `npm start` in a clone, for a user whose home is empty. Other ports than the documented ones, because those may be in use. */
export async function startInstallation(directory: string): Promise<Installation> {
  const home = await mkdtemp(join(tmpdir(), 'mandate-home-'));
  const [port, storefrontPort] = [await freePort(), await freePort()];
  const [url, storefrontUrl] = [`http://localhost:${port}`, `http://localhost:${storefrontPort}`];
  // oxlint-disable-next-line node/no-process-env -- the programs are those of the caller
  const env = { PATH: process.env['PATH'], HOME: home, PORT: String(port), MANDATE_API_URL: url, VITE_API_URL: url };
  const running: ChildProcess[] = [];
  const shell = (script: string): ReturnType<typeof spawnShell> => {
    const child = spawnShell(
      script.replaceAll('http://localhost:3000', url).replaceAll('http://localhost:5173', storefrontUrl),
      directory,
      env,
    );
    running.push(child.process);
    return child;
  };
  const server = shell('exec npm start');
  while (!server.output().includes('Mandate is running.')) {
    if (server.process.exitCode !== null) throw new Error(server.output());
    await sleep(50);
  }
  return {
    url,
    storefrontUrl,
    accounts: firstRun.parse(JSON.parse(await readFile(join(directory, 'data/first-run.json'), 'utf8'))),
    run: (commands, onOutput) => finished(shell(commands.join('\n')), onOutput),
    start: (command) => void shell(`exec ${command} -- --port ${storefrontPort} --strictPort`),
    async close() {
      for (const child of running) await endGroup(child);
      await rm(home, { recursive: true, force: true });
    },
  };
}

function spawnShell(script: string, cwd: string, env: NodeJS.ProcessEnv): { process: ChildProcess; output: () => string } {
  // a group of its own: `npm` does not pass signals on to everything that it starts
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  return { process: child, output: () => output };
}

async function finished({ process: child, output }: ReturnType<typeof spawnShell>, onOutput?: (output: string) => void): Promise<string> {
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', () => onOutput?.(output()));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`a command ended with ${child.exitCode}:\n${output()}`);
  return output();
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  await exited;
}
