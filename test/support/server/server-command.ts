import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export const serverProgram = join(import.meta.dirname, '../../../server/bin/mandate-server.js');

export type CommandResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/**
 * Runs `mandate-server` until it exits.
 * @param input standard input, which is not a terminal
 * @param programFile path of `mandate-server` from a different release
 */
export async function runMandateServer(
  env: Readonly<Record<string, string>>,
  argv: readonly string[],
  input = '',
  programFile = serverProgram,
): Promise<CommandResult> {
  const child = spawn(process.execPath, [programFile, ...argv], { env: { PATH: process.env['PATH'], ...env }, stdio: 'pipe' });
  child.stdin.on('error', () => undefined); // the process may exit without reading its input
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, stdout, stderr };
}

/** Runs `mandate-server` until it exits, and measures its peak memory in megabytes (0 on systems without `/proc`). */
export async function measureMandateServer(
  env: Readonly<Record<string, string>>,
  argv: readonly string[],
): Promise<CommandResult & { memory: number }> {
  const child = spawn(process.execPath, [serverProgram, ...argv], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let memory = 0;
  const pollTimer = setInterval(() => {
    void readFile(`/proc/${child.pid}/status`, 'utf8').then(
      (status) => (memory = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? memory * 1024) / 1024),
      () => undefined,
    );
  }, 20);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  clearInterval(pollTimer);
  return { code: child.exitCode, stdout, stderr, memory: Math.round(memory) };
}

/** Returns the shell command line that runs `mandate-server` with these arguments. */
export const shellCommandLine = (argv: readonly string[]): string =>
  [process.execPath, serverProgram, ...argv].map((word) => `'${word}'`).join(' ');
