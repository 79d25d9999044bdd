import { spawn } from 'node:child_process';
import { once } from 'node:events';

type Surroundings = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>>; readonly timeoutMs?: number };

/** What a command says on standard output; it throws, with everything it said, when the command fails or takes too long. */
export async function run(
  command: string,
  words: readonly string[],
  { cwd, env, timeoutMs = 300_000 }: Surroundings = {},
): Promise<string> {
  const child = spawn(command, words, {
    ...(cwd !== undefined && { cwd }),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  });
  let output = '';
  let complaints = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (complaints += String(chunk)));
  const [code] = await once(child, 'close');
  if (code === 0) return output;
  throw new Error(`${command} ${words[0] ?? ''} ended with ${String(code)}:\n${`${output}\n${complaints}`.slice(-4000)}`);
}
