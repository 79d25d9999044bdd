import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { stopProcessGroup } from '../../support/stop-process-group.ts';

/**
 * A shell that runs scripts sequentially, like a reader's terminal. Later scripts can use the variables and functions of earlier scripts.
 */
export type ShellSession = {
  /**
   * Runs a script. Returns the output of this script, without that of earlier scripts; throws an error with the output if a command fails.
   */
  run(script: string): Promise<string>;
  /** Starts a program that runs until the session is closed. */
  runInBackground(command: string): Promise<void>;
  /** Waits until `isComplete` accepts all output since the latest script started, or until the timeout, and returns this output. */
  waitForOutput(isComplete: (output: string) => boolean, timeoutMs: number): Promise<string>;
  /** Enters a line that a script reads. */
  enter(line: string): void;
  close(): Promise<void>;
};

export type ShellSessionOptions = {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Receives each chunk of output. */
  readonly onOutput?: (chunk: string) => void;
};

/** Reads scripts, each of which ends with a NUL character, from file descriptor 3, and prints a NUL character after each script. */
const readLoop = `set -euo pipefail
while IFS= read -r -d '' -u 3 script; do
  eval "$script"
  printf '\\0'
done`;

export function startShellSession({ directory, env, onOutput }: ShellSessionOptions): ShellSession {
  const [stdin, pipes] = ['pipe', ['pipe', 'pipe', 'pipe']] as const;
  // The shell has its own process group (`detached`), so that `close` also ends background programs.
  const child = spawn('bash', ['--norc', '-c', readLoop], {
    cwd: directory,
    env: { ...env, PATH: `${dirname(process.execPath)}:${env['PATH'] ?? ''}` },
    stdio: [stdin, ...pipes],
    detached: true,
  });
  let [finished, output, unread] = [0, '', ''];
  const receive = (chunk: Buffer): void => {
    const text = chunk.toString();
    finished += text.split('\0').length - 1;
    const visible = text.replaceAll('\0', '');
    output += visible;
    unread += visible;
    onOutput?.(visible);
  };
  child.stdout.on('data', receive);
  child.stderr.on('data', receive);
  const [, , , scripts] = child.stdio;
  if (!(scripts instanceof Writable)) throw new Error('the shell has no descriptor for scripts');
  scripts.on('error', () => undefined); // `run` reports that the session has ended

  const hasFinished = (count: number): boolean => finished >= count;
  const run = async (script: string): Promise<string> => {
    const [expected, start] = [finished + 1, output.length];
    unread = '';
    scripts.write(`${script}\0`);
    while (!hasFinished(expected)) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`The shell ended: ${output.slice(start)}`);
      await sleep(10);
    }
    return output.slice(start);
  };
  return {
    run,
    runInBackground: async (command) => void (await run(`${command} &`)),
    async waitForOutput(isComplete, timeoutMs) {
      const deadline = Date.now() + timeoutMs;
      while (!isComplete(unread) && Date.now() < deadline) await sleep(10);
      return unread;
    },
    enter: (line) => void child.stdin.write(`${line}\n`),
    close: () => stopProcessGroup(child),
  };
}
