import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliEnvironment, OutputStream } from '../../cli/environment/cli-environment-type.ts';
import { runCommandLine } from '../../cli/run-command-line.ts';

export type CommandOutcome = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };

type RunOptions = {
  readonly env?: Record<string, string>;
  readonly stdin?: string | AsyncIterable<Uint8Array>;
  /** Whether standard input is a terminal. */
  readonly stdinIsTTY?: boolean;
  /** Width of the terminal. If the width is undefined, standard output and standard error are pipes. */
  readonly columns?: number;
  readonly openBrowser?: CliEnvironment['openBrowser'];
  /** Opening the keyring fails if this option is undefined. */
  readonly keyring?: CliEnvironment['keyring'];
  readonly interrupted?: AbortSignal;
  /** Called with each chunk of text that is written to standard error. */
  readonly onStderr?: (text: string) => void;
};

/** Runs a command line within the test process. */
export async function runInProcess(argv: readonly string[], options: RunOptions = {}): Promise<CommandOutcome> {
  const {
    env = {},
    stdin = '',
    stdinIsTTY = false,
    columns,
    openBrowser,
    keyring,
    interrupted = new AbortController().signal,
    onStderr,
  } = options;
  const output = { stdout: '', stderr: '' };
  const outputTo = (name: keyof typeof output): OutputStream => ({
    write: (content) => {
      const text = typeof content === 'string' ? content : Buffer.from(content).toString();
      output[name] += text;
      if (name === 'stderr') onStderr?.(text);
    },
    drained: async () => undefined,
    isTTY: columns !== undefined,
    columns: columns ?? 80,
  });
  async function* input(): AsyncGenerator<string | Uint8Array> {
    if (typeof stdin === 'string') yield stdin;
    else yield* stdin;
  }
  const io: CliEnvironment = {
    stdin: input(),
    stdinIsTTY,
    stdout: outputTo('stdout'),
    stderr: outputTo('stderr'),
    env: { MANDATE_CONFIG_DIR: join(tmpdir(), 'mandate-no-such-directory'), ...env },
    homeDirectory: '/nowhere',
    platform: 'linux',
    keyring: keyring ?? (() => Promise.reject(new Error('no keyring here'))),
    openBrowser: openBrowser ?? (async () => undefined),
    interrupted,
  };
  return { exitCode: await runCommandLine(argv, io), ...output };
}

const main = join(import.meta.dirname, '../../cli/main.ts');

export type CliProcess = { readonly child: ChildProcess; readonly exited: Promise<CommandOutcome>; readonly stderrSoFar: () => string };

const children = new Set<ChildProcess>();

/** Kills all processes that are still running, for example after a failed test. */
export function killProcesses(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Starts a command line in a separate process. */
export function spawnCommand(argv: readonly string[], env: Record<string, string> = {}, stdin = ''): CliProcess {
  const child = spawn(process.execPath, [main, ...argv], { env, stdio: 'pipe' });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8');
  child.stderr.setEncoding('utf8');
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  child.stdin.end(stdin);
  children.add(child);
  const exited = once(child, 'close')
    .finally(() => children.delete(child))
    .then(() => ({ exitCode: child.exitCode, ...output }));
  return { child, exited, stderrSoFar: () => output.stderr };
}

/** Runs a command line in a separate process until it exits. */
export const runProcess = (argv: readonly string[], env?: Record<string, string>): Promise<CommandOutcome> =>
  spawnCommand(argv, env).exited;

/** Creates a temporary configuration directory, which is deleted on disposal. */
export async function createConfigDirectory(): Promise<AsyncDisposable & { readonly path: string; readonly file: string }> {
  const path = await mkdtemp(join(tmpdir(), 'mandate-cli-'));
  return { path, file: join(path, 'credentials.json'), [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
