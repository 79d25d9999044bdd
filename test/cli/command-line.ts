import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Io, Output } from '../../cli/environment.ts';
import { run } from '../../cli/run.ts';

export type Outcome = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };

type Surroundings = {
  readonly env?: Record<string, string>;
  readonly stdin?: string | AsyncIterable<Uint8Array>;
  /** Whether somebody sits at the keyboard. */
  readonly stdinIsTTY?: boolean;
  /** Width of the terminal on which it runs; without it, both outputs are pipes. */
  readonly columns?: number;
  readonly openBrowser?: Io['openBrowser'];
  /** Without one, the system has none. */
  readonly keyring?: Io['keyring'];
  readonly interrupted?: AbortSignal;
  /** Told of everything said on stderr, as it is said. */
  readonly onStderr?: (text: string) => void;
};

/** Runs a command line in this process. */
export async function runHere(argv: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const {
    env = {},
    stdin = '',
    stdinIsTTY = false,
    columns,
    openBrowser,
    keyring,
    interrupted = new AbortController().signal,
    onStderr,
  } = surroundings;
  const written = { stdout: '', stderr: '' };
  const outputTo = (name: keyof typeof written): Output => ({
    write: (content) => {
      const text = typeof content === 'string' ? content : Buffer.from(content).toString();
      written[name] += text;
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
  const io: Io = {
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
  return { exitCode: await run(argv, io), ...written };
}

const main = join(import.meta.dirname, '../../cli/main.ts');

export type CliProcess = { readonly child: ChildProcess; readonly ended: Promise<Outcome>; readonly stderrSoFar: () => string };

const children = new Set<ChildProcess>();

/** For `afterEach`: whatever a failed test has left running. */
export function endProcesses(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Runs a command line as a process of its own. */
export function start(argv: readonly string[], env: Record<string, string> = {}, stdin = ''): CliProcess {
  const child = spawn(process.execPath, [main, ...argv], { env, stdio: 'pipe' });
  const written = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8');
  child.stderr.setEncoding('utf8');
  child.stdout.on('data', (chunk) => (written.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (written.stderr += String(chunk)));
  child.stdin.end(stdin);
  children.add(child);
  const ended = once(child, 'close')
    .finally(() => children.delete(child))
    .then(() => ({ exitCode: child.exitCode, ...written }));
  return { child, ended, stderrSoFar: () => written.stderr };
}

export const runProcess = (argv: readonly string[], env?: Record<string, string>): Promise<Outcome> => start(argv, env).ended;

/** A directory for credentials that is gone afterwards. */
export async function configDirectory(): Promise<AsyncDisposable & { readonly path: string; readonly file: string }> {
  const path = await mkdtemp(join(tmpdir(), 'mandate-cli-'));
  return { path, file: join(path, 'credentials.json'), [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
