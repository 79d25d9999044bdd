import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { findFreePort } from '../support/network/free-port.ts';
import { repositoryRoot } from '../support/markdown.ts';
import { stopProcessGroup } from '../support/stop-process-group.ts';

const account = z.object({ email: z.string(), password: z.string() });
const firstRun = z.object({ administrator: account, customer: account });
export type Account = z.infer<typeof account>;

export type Installation = {
  readonly url: string;
  readonly storefrontUrl: string;
  readonly accounts: z.infer<typeof firstRun>;
  /** Runs a document's commands in a shell, with only the ports replaced. `onOutput` receives the whole output after each new chunk. */
  run(commands: readonly string[], onOutput?: (output: string) => void): Promise<string>;
  /** Starts a command that runs until the installation is closed. */
  start(command: string): void;
  close(): Promise<void>;
};

/** Creates a directory with links to all repository files except data, like a clone with installed packages. */
export async function linkedClone(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'mandate-first-order-'));
  for (const name of await readdir(repositoryRoot))
    if (!['.git', 'data'].includes(name)) await symlink(join(repositoryRoot, name), join(path, name));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Runs `npm start` in a clone with an empty home directory. Does not use the documented ports, because they may be in use. */
export async function startInstallation(directory: string): Promise<Installation> {
  const home = await mkdtemp(join(tmpdir(), 'mandate-home-'));
  const [port, storefrontPort] = [await findFreePort(), await findFreePort()];
  const [url, storefrontUrl] = [`http://localhost:${port}`, `http://localhost:${storefrontPort}`];
  // oxlint-disable-next-line node/no-process-env -- the child processes use the caller's programs
  const env = { PATH: process.env['PATH'], HOME: home, PORT: String(port), MANDATE_API_URL: url, VITE_API_URL: url };
  const processes: ChildProcess[] = [];
  const shell = (script: string): ReturnType<typeof spawnShell> => {
    const child = spawnShell(
      script.replaceAll('http://localhost:3000', url).replaceAll('http://localhost:5173', storefrontUrl),
      directory,
      env,
    );
    processes.push(child.process);
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
    run: (commands, onOutput) => waitForExit(shell(commands.join('\n')), onOutput),
    start: (command) => void shell(`exec ${command} -- --port ${storefrontPort} --strictPort`),
    async close() {
      for (const child of processes) await stopProcessGroup(child);
      await rm(home, { recursive: true, force: true });
    },
  };
}

function spawnShell(script: string, cwd: string, env: NodeJS.ProcessEnv): { process: ChildProcess; output: () => string } {
  // the signal goes to the process group, because `npm` does not forward signals to all of its child processes
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  return { process: child, output: () => output };
}

async function waitForExit(
  { process: child, output }: ReturnType<typeof spawnShell>,
  onOutput?: (output: string) => void,
): Promise<string> {
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', () => onOutput?.(output()));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`a command exited with ${child.exitCode}:\n${output()}`);
  return output();
}
