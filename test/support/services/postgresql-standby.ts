import { execFile } from 'node:child_process';
import { appendFile, chown, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { z } from 'zod';
import { findPostgresql, startPostgresqlInDirectory, type PostgresqlOptions, type PostgresqlServer } from './postgresql-server.ts';

const run = promisify(execFile);

const backup = z.object({ labelfile: z.string() });

/**
 * Starts a standby server with streaming replication from a running primary. `synchronous`: the primary waits for the standby on every
 * commit. The npm packages contain no pg_basebackup, so this function makes the base backup with the low-level API (PostgreSQL 18,
 * section 25.3.3).
 */
export async function startStandby(
  primary: PostgresqlServer,
  options: PostgresqlOptions & { readonly synchronous: boolean },
): Promise<PostgresqlServer> {
  const postgresql = await findPostgresql();
  const { account } = postgresql;
  const { password, port } = new URL(primary.url);
  const client = new Client(primary.url);
  await client.connect();
  try {
    const standby = await startPostgresqlInDirectory(postgresql, options, password, async (data) => {
      await client.query(`select pg_backup_start('standby', true)`);
      // the backup does not need files that disappear during the copy
      await run('sh', ['-c', 'cp -a "$0" "$1" 2>/dev/null || test -e "$1/PG_VERSION"', primary.dataDirectory, data]);
      const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
      const { labelfile } = backup.parse(rows[0]);
      for (const serverFile of ['postmaster.pid', 'postmaster.opts']) await rm(join(data, serverFile), { force: true });
      const files = { backup_label: labelfile, 'standby.signal': '' };
      for (const [name, content] of Object.entries(files)) {
        await writeFile(join(data, name), content);
        if (account.uid !== undefined && account.gid !== undefined) await chown(join(data, name), account.uid, account.gid);
      }
      const connectionSetting = `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres password=${password}'`;
      await appendFile(join(data, 'postgresql.auto.conf'), `${connectionSetting}\nsynchronous_standby_names = ''\n`);
    });
    if (options.synchronous) {
      await client.query(`alter system set synchronous_standby_names = '*'`);
      await client.query('select pg_reload_conf()');
    }
    await waitUntilStreaming(client, options.synchronous ? 'sync' : 'async');
    return standby;
  } finally {
    await client.end();
  }
}

async function waitUntilStreaming(primary: Client, state: 'sync' | 'async'): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(20)) {
    const { rowCount } = await primary.query(`select from pg_stat_replication where state = 'streaming' and sync_state = $1`, [state]);
    if (rowCount === 1) return;
  }
  throw new Error('the standby does not replicate');
}

/** Promotes a standby to a primary that accepts writes. */
export async function promoteStandby({ url }: PostgresqlServer): Promise<void> {
  const client = new Client(url);
  await client.connect();
  await client.query('select pg_promote(true, 60)');
  await client.end();
}
