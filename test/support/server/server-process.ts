import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { openDatabase } from '../../../server/schema/open-database.ts';
import { dumpOf } from '../dump.ts';
import { freePort } from '../network/free-port.ts';
import { SecretsInUse } from '../oauth/secret-leak-check.ts';

const root = join(import.meta.dirname, '../../..');

export type ServerProcess = {
  readonly url: string;
  readonly pid: number;
  /** Everything it has written so far, to either output. */
  readonly output: () => string;
  /** Its exit code and signal, once it has ended. */
  readonly exited: Promise<unknown[]>;
  /** Asks it to stop and gives its exit code. */
  readonly stop: () => Promise<number | null>;
  /** Kills it as a power switch would: nothing is finished. */
  readonly kill: () => Promise<void>;
};

/** Of all servers: a test may have one go on where another ended. */
const secretsInUse = new SecretsInUse();

/** Nothing that opened anything lies in the database or stands in what the server wrote (95). */
async function expectNoSecretsKept(env: Readonly<Record<string, string>>, output: string): Promise<void> {
  // in development a message that cannot be sent is shown instead, with the link in it, and whom one can sign in as
  const shown = /a message that would be sent|^ {2}Sign in as /;
  const logged = output.split('\n').filter((line) => !shown.test(line));
  const kept = secretsInUse.among(`${logged.join('\n')}\n${await keptData(env)}`);
  if (kept.length > 0) throw new Error(`secrets that were kept:\n${kept.join('\n')}`);
}

async function keptData({ DATABASE_URL: url, MANDATE_DATA_DIR: directory }: Readonly<Record<string, string>>): Promise<string> {
  if (url !== undefined) {
    const db = await openDatabase(url);
    const dump = await dumpOf(db);
    await db.close();
    return dump;
  }
  if (directory === undefined) return '';
  const texts: string[] = []; // of every file of the embedded database, what it would do again after a crash included
  for await (const file of glob(join(directory, 'database/**/*'), { withFileTypes: true }))
    if (file.isFile()) texts.push(await readFile(join(file.parentPath, file.name), 'latin1'));
  return texts.join('\n');
}

export type Exit = { readonly code: number | null; readonly output: string };

const children = new Set<ChildProcess>();

/** For `afterEach`: whatever a failed test has left running. */
export function endServerProcesses(): void {
  for (const child of children) child.kill('SIGKILL');
}

const usually = ['server/main.ts'];

/** Where the program is, and who runs it, if that is not this repository and this process. */
export type Place = { readonly executable: string; readonly directory: string; readonly uid?: number; readonly gid?: number };
const here: Place = { executable: process.execPath, directory: root };

function launch(
  env: Readonly<Record<string, string>>,
  argv: readonly string[] = usually,
  { executable, directory: cwd, ...account }: Place = here,
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
 * `server/main.ts` in a process of its own, as `npm start` runs it; resolves when it says that it is running. `argv`: started otherwise.
 * `onLogLine` is told each line of its log.
 */
export async function startServer(
  env: Readonly<Record<string, string>>,
  argv?: readonly string[],
  place?: Place,
  onLogLine?: (line: string) => void,
): Promise<ServerProcess> {
  const port = env['PORT'] ?? (await freePort());
  const { child, exited, output } = launch({ ...env, PORT: String(port) }, argv, place);
  if (onLogLine) createInterface(child.stderr).on('line', onLogLine);
  while (!ready.test(output())) {
    // somebody else was given the port meanwhile
    if (child.exitCode !== null && output().includes('EADDRINUSE')) return startServer(env, argv, place, onLogLine);
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}:\n${output()}`);
    await sleep(20);
  }
  secretsInUse.watch();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  const stop = async (): Promise<number | null> => {
    await end('SIGTERM');
    await expectNoSecretsKept(env, output());
    return child.exitCode;
  };
  const url = `http://localhost:${port}`;
  return { url, pid: child.pid ?? 0, output, exited, kill: () => end('SIGKILL'), stop };
}

/** Kills it at a moment of its start that `reached` recognizes. */
export async function killServerWhen(env: Readonly<Record<string, string>>, reached: () => boolean): Promise<void> {
  const { child, exited, output } = launch({ PORT: String(await freePort()), ...env });
  while (!reached()) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}:\n${output()}`);
    await nextTurn();
  }
  child.kill('SIGKILL');
  await exited;
}

/** For a start that is expected to be refused. */
export async function runServer(env: Readonly<Record<string, string>>, argv?: readonly string[], place?: Place): Promise<Exit> {
  const { child, exited, output } = launch({ PORT: String(await freePort()), ...env }, argv, place);
  await exited;
  return { code: child.exitCode, output: output() };
}

/** A data directory that is removed with everything in it when the block ends. */
export async function temporaryDataDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'mandate-data-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const application = z.object({ client_id: z.string(), client_secret: z.string() });
const firstRun = z.object({
  customer: z.object({ email: z.string(), password: z.string() }),
  applications: z.object({ administration: application }),
});

export const readFirstRun = async (dataDirectory: string): Promise<z.infer<typeof firstRun>> =>
  firstRun.parse(JSON.parse(await readFile(join(dataDirectory, 'first-run.json'), 'utf8')));

const tokenResponse = z.object({ access_token: z.string() });

/** A token of the application that administers the shop. */
export async function administrationToken(url: string, dataDirectory: string): Promise<string> {
  const { client_id: id, client_secret: secret } = (await readFirstRun(dataDirectory)).applications.administration;
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
    signal: AbortSignal.timeout(30_000), // longer than a server takes for anything
  });
  return tokenResponse.parse(await response.json()).access_token;
}
