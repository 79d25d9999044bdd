import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export const program = join(import.meta.dirname, '../../../server/bin/mandate-server.js');

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** `mandate-server`, to its end. `input` is its standard input, which is no terminal; `from`: that of another release. */
export async function mandateServer(
  env: Readonly<Record<string, string>>,
  argv: readonly string[],
  input = '',
  from = program,
): Promise<Ended> {
  const child = spawn(process.execPath, [from, ...argv], { env: { PATH: process.env['PATH'], ...env }, stdio: 'pipe' });
  child.stdin.on('error', () => undefined); // it may end without reading
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, stdout, stderr };
}

/** The same, and the most memory that it had, in megabytes; 0 where the system does not say. */
export async function mandateServerMeasured(
  env: Readonly<Record<string, string>>,
  argv: readonly string[],
): Promise<Ended & { memory: number }> {
  const child = spawn(process.execPath, [program, ...argv], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let memory = 0;
  const looking = setInterval(() => {
    void readFile(`/proc/${child.pid}/status`, 'utf8').then(
      (status) => (memory = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? memory * 1024) / 1024),
      () => undefined,
    );
  }, 20);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  clearInterval(looking);
  return { code: child.exitCode, stdout, stderr, memory: Math.round(memory) };
}

/** A command line to be typed at a terminal. */
export const commandLineOf = (argv: readonly string[]): string => [process.execPath, program, ...argv].map((word) => `'${word}'`).join(' ');
