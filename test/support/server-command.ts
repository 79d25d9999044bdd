import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export const program = join(import.meta.dirname, '../../server/bin/mandate-server.js');

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** `mandate-server`, to its end. `input` is its standard input, which is no terminal. */
export async function mandateServer(env: Readonly<Record<string, string>>, argv: readonly string[], input = ''): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...argv], { env: { PATH: process.env['PATH'], ...env }, stdio: 'pipe' });
  child.stdin.on('error', () => undefined); // it may end without reading
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, stdout, stderr };
}

/** The same, to be typed at a terminal. */
export const commandLineOf = (argv: readonly string[]): string => [process.execPath, program, ...argv].map((word) => `'${word}'`).join(' ');
