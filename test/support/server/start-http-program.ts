import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { acceptsConnections } from '../network/accepts-connections.ts';
import { waitUntil } from '../wait-until.ts';

type HttpProgram = {
  readonly command: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Loopback port on which the program listens. */
  readonly port: number;
};

/**
 * Starts a program, and waits until it listens. On disposal, sends SIGTERM to the program and waits until it has exited.
 * @throws with the program's output if it exits, or does not listen within three minutes
 */
export async function startHttpProgram({ command, argv, env, port }: HttpProgram): Promise<AsyncDisposable> {
  const child = spawn(command, argv, { env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
  try {
    await waitUntil(async () => child.exitCode !== null || (await acceptsConnections(port)), 180_000);
    if (child.exitCode !== null) throw new Error(`${command} exited with ${child.exitCode}`);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`${command} does not listen:\n${output}`, { cause: error });
  }
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
