import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

type RunOptions = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>>; readonly timeoutMs?: number };

/** Runs a command and returns its standard output. If the command fails or times out, throws an error with the whole output. */
export async function run(command: string, words: readonly string[], { cwd, env, timeoutMs = 300_000 }: RunOptions = {}): Promise<string> {
  const child = spawn(command, words, {
    ...(cwd !== undefined && { cwd }),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  });
  let output = '';
  let errorOutput = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (errorOutput += String(chunk)));
  const [code] = await once(child, 'close');
  if (code === 0) return output;
  throw new Error(`${command} ${words[0] ?? ''} exited with ${String(code)}:\n${`${output}\n${errorOutput}`.slice(-4000)}`);
}

/** Returns whether a command is on the `PATH`. */
export const isInstalled = (command: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)));
