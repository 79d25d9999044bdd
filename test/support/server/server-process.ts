import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setImmediate as nextEventLoopTurn, setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { openDatabaseWithEntities } from '../../../server/database/open-database-with-entities.ts';
import { dumpDatabase } from '../services/database-dump.ts';
import { findFreePort } from '../network/free-port.ts';
import { SecretLeakDetector } from './secret-leak-detector.ts';
import { resetBeforeTestFile } from '../test-files/test-file-state.ts';

const root = join(import.meta.dirname, '../../..');

export type ServerProcess = {
  readonly url: string;
  readonly pid: number;
  /** Returns all stdout and stderr output so far. */
  readonly output: () => string;
  /** Resolves to the exit code and the signal when the process exits. */
  readonly exited: Promise<unknown[]>;
  /** Sends SIGTERM, waits for the process to exit and returns its exit code. */
  readonly stop: () => Promise<number | null>;
  /** Sends SIGKILL. */
  readonly kill: () => Promise<void>;
};

/** All servers share one detector, because a test can restart a server on the same database. */
const secretsInUse = new SecretLeakDetector();
resetBeforeTestFile(() => secretsInUse.reset());

/** Expects that no secret used by a test appears in the database or in the server's output (requirement 95). */
async function expectNoStoredSecrets(env: Readonly<Record<string, string>>, output: string): Promise<void> {
  // in development, the server logs the demonstration accounts, and unsent e-mails with their links
  const allowedOutput = /a message that would be sent|^ {2}Sign in as /;
  const logged = output.split('\n').filter((line) => !allowedOutput.test(line));
  const leaked = secretsInUse.findSecretsIn(`${logged.join('\n')}\n${await readStoredData(env)}`);
  if (leaked.length > 0) throw new Error(`secrets found in stored data:\n${leaked.join('\n')}`);
}

async function readStoredData({ DATABASE_URL: url, MANDATE_DATA_DIR: directory }: Readonly<Record<string, string>>): Promise<string> {
  if (url !== undefined) {
    const db = await openDatabaseWithEntities(url, { entities: [] }); // without entities, the database opens faster
    const dump = await dumpDatabase(db);
    await db.close();
    return dump;
  }
  if (directory === undefined) return '';
  const texts: string[] = []; // contents of all embedded database files, including the write-ahead log
  for await (const file of glob(join(directory, 'database/**/*'), { withFileTypes: true }))
    if (file.isFile()) texts.push(await readFile(join(file.parentPath, file.name), 'latin1'));
  return texts.join('\n');
}

export type ServerExit = { readonly code: number | null; readonly output: string };

const children = new Set<ChildProcess>();

/** Kills all server processes that a failed test has left running, and waits until they have exited. For `afterEach` and `afterAll`. */
export async function killServerProcesses(): Promise<void> {
  const exits = Array.from(children, (child) => once(child, 'exit'));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(exits);
}

const defaultArguments = ['server/main.ts'];

/** Executable, working directory and account of a server process (default: this process's executable and account, and this repository). */
export type ServerLocation = { readonly executable: string; readonly directory: string; readonly uid?: number; readonly gid?: number };
const defaultLocation: ServerLocation = { executable: process.execPath, directory: root };

function launch(
  env: Readonly<Record<string, string>>,
  argv: readonly string[] = defaultArguments,
  { executable, directory: cwd, ...account }: ServerLocation = defaultLocation,
): { child: ChildProcessByStdio<null, Readable, Readable>; exited: Promise<unknown[]>; output: () => string } {
  const child = spawn(executable, argv, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...account,
  });
  children.add(child);
  const exited = once(child, 'exit').finally(() => children.delete(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  return { child, exited, output: () => output };
}

const ready = /Mandate is running\.|"msg":"listening"/;

/**
 * Starts `server/main.ts` in a child process, as `npm start` does. Resolves when the server is ready.
 * @param argv arguments for the executable (default: `server/main.ts`)
 * @param onLogLine receives every log line
 */
export async function startServerProcess(
  env: Readonly<Record<string, string>>,
  argv?: readonly string[],
  location?: ServerLocation,
  onLogLine?: (line: string) => void,
): Promise<ServerProcess> {
  const port = env['PORT'] ?? (await findFreePort());
  const { child, exited, output } = launch({ ...env, PORT: String(port) }, argv, location);
  if (onLogLine) createInterface(child.stderr).on('line', onLogLine);
  while (!ready.test(output())) {
    // another process took the port in the meantime
    if (child.exitCode !== null && output().includes('EADDRINUSE')) return startServerProcess(env, argv, location, onLogLine);
    if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode}:\n${output()}`);
    await sleep(20);
  }
  secretsInUse.recordFetchCalls();
  const endWith = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  const stop = async (): Promise<number | null> => {
    await endWith('SIGTERM');
    await expectNoStoredSecrets(env, output());
    return child.exitCode;
  };
  const url = `http://localhost:${port}`;
  return { url, pid: child.pid ?? 0, output, exited, kill: () => endWith('SIGKILL'), stop };
}

/**
 * Starts a server and kills it during startup, as soon as `reached` returns true.
 * @param begins returns true once startup has progressed far enough that `reached` must be checked in every event-loop turn
 */
export async function killStartingServer(
  env: Readonly<Record<string, string>>,
  begins: () => boolean,
  reached: () => boolean,
): Promise<void> {
  const { child, exited, output } = launch({ PORT: String(await findFreePort()), ...env });
  const waitFor = async (condition: () => boolean, pause: () => Promise<unknown>): Promise<void> => {
    while (!condition()) {
      if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode}:\n${output()}`);
      await pause();
    }
  };
  await waitFor(begins, () => sleep(2));
  await waitFor(reached, () => nextEventLoopTurn());
  child.kill('SIGKILL');
  await exited;
}

/** Runs a server that is expected to exit during startup. Returns the server's exit code and output. */
export async function runServerUntilExit(
  env: Readonly<Record<string, string>>,
  argv?: readonly string[],
  location?: ServerLocation,
): Promise<ServerExit> {
  const { child, exited, output } = launch({ PORT: String(await findFreePort()), ...env }, argv, location);
  await exited;
  return { code: child.exitCode, output: output() };
}

/** Creates a data directory, which is removed on disposal. */
export async function createDataDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'mandate-data-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const application = z.object({ client_id: z.string(), client_secret: z.string(), redirect_uris: z.array(z.string()) });
const account = z.object({ email: z.string(), password: z.string() });
const firstRun = z.object({
  administrator: account,
  customer: account,
  applications: z.object({ administration: application, demonstration: application }),
});

export const readFirstRunFile = async (dataDirectory: string): Promise<z.infer<typeof firstRun>> =>
  firstRun.parse(JSON.parse(await readFile(join(dataDirectory, 'first-run.json'), 'utf8')));

const tokenResponse = z.object({ access_token: z.string() });

/** Obtains an access token for the administration application. */
export async function obtainAdministrationToken(url: string, dataDirectory: string): Promise<string> {
  const { client_id: id, client_secret: secret } = (await readFirstRunFile(dataDirectory)).applications.administration;
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
    signal: AbortSignal.timeout(30_000), // longer than the slowest server response
  });
  return tokenResponse.parse(await response.json()).access_token;
}
