import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptsConnections } from '../network/accepts-connections.ts';
import { findFreePort } from '../network/free-port.ts';

/** Path of the PgBouncer program, from the environment variable `PGBOUNCER` (default: pgbouncer). */
const program = process.env['PGBOUNCER'] ?? 'pgbouncer';
const searchPath = `${process.env['PATH'] ?? ''}:/usr/sbin`;
const environment = { PATH: searchPath };
const installed = spawnSync(program, ['--version'], { encoding: 'utf8', env: environment });
const [major = 0, minor = 0] = (/PgBouncer (\d+)\.(\d+)/.exec(installed.stdout ?? '')?.slice(1) ?? []).map(Number);

/** Whether PgBouncer is installed (`apt-get install pgbouncer`). Without PgBouncer, tests that need it are skipped. */
export const hasPgBouncer = installed.status === 0;
if (!hasPgBouncer) process.stderr.write('Tests with PgBouncer are skipped: pgbouncer is not installed.\n');

/** PgBouncer 1.21 and later support named prepared statements in transaction mode. */
export const supportsPreparedStatements = major > 1 || minor >= 21;

export type PgBouncer = AsyncDisposable & {
  readonly port: number;
  /** URL of the PostgreSQL database through PgBouncer. */
  readonly url: string;
};

/**
 * Starts PgBouncer in front of a PostgreSQL server.
 * @param databaseUrl URL of the PostgreSQL database; PgBouncer accepts the same user and password
 * @param settings additional settings in the `[pgbouncer]` section
 */
export async function startPgBouncer(databaseUrl: string, settings: Readonly<Record<string, string | number>> = {}): Promise<PgBouncer> {
  const { username, password, hostname, port: postgresqlPort, pathname } = new URL(databaseUrl);
  const [directory, port] = [await mkdtemp(join(tmpdir(), 'pgbouncer-')), await findFreePort()];
  const users = join(directory, 'users.txt');
  await writeFile(users, `"${username}" "${password}"\n`);
  const all = { listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'plain', auth_file: users, ...settings };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const configuration = join(directory, 'pgbouncer.ini');
  await writeFile(
    configuration,
    ['[databases]', `${pathname.slice(1)} = host=${hostname} port=${postgresqlPort}`, '[pgbouncer]', ...lines, ''].join('\n'),
  );
  const account = await unprivilegedAccount([directory, users, configuration]);
  const child = spawn(program, [configuration], { ...account, stdio: 'ignore', env: environment });
  const exited = once(child, 'exit');
  while (!(await acceptsConnections(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer exited with ${child.exitCode}`);
    await sleep(20);
  }
  const url = new URL(databaseUrl);
  url.port = String(port);
  return {
    port,
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** PgBouncer refuses to run as root. */
async function unprivilegedAccount(paths: readonly string[]): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  const account = { uid: id('-u'), gid: id('-g') };
  for (const path of paths) await chown(path, account.uid, account.gid);
  await chmod(paths[0] ?? '', 0o700);
  return account;
}
