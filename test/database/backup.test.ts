import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { backupTableEndSchema } from '../../server/backup/backup-format.ts';
import { verifyBackupAndReadHeader } from '../../server/backup/read-and-verify-backup.ts';
import { restoreBackupAndMigrate } from '../../server/backup/restore-backup-and-migrate.ts';
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import { readMigrationState } from '../../server/database/migrate/read-migration-state.ts';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { backupKey as key, writeTestBackup, readBackupLines, writeBackupLines } from '../support/server/backup-file.ts';
import { databaseKind, createEmptyPostgresqlUrl, createMigratedDatabase } from '../support/services/database.ts';
import { readAllRows } from '../support/services/database-dump.ts';

let directory: string;
let file: string;
const openDatabases: Database[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mandate-backup-'));
  file = join(directory, 'mandate.backup');
});
afterEach(async () => {
  for (const db of openDatabases.splice(0)) await db.close();
  await rm(directory, { recursive: true });
});

async function trackOpened(db: Promise<Database>): Promise<Database> {
  openDatabases.push(await db);
  return db;
}
const silent = { key, onBytes: () => undefined };

/** Verifies the whole file and then restores it, as `mandate-server restore` does. */
async function restore(db: Database, from = file): Promise<string[]> {
  return restoreBackupAndMigrate(db, from, await verifyBackupAndReadHeader(from, silent), { key, onProgress: () => undefined });
}

/** Creates a database without running the migrations. */
const emptyDatabase = async (): Promise<Database> =>
  openDatabaseWithoutMigrating(databaseKind === 'pglite' ? 'memory://' : await createEmptyPostgresqlUrl(), { timeouts: 'none' });
const openEmbedded = async (): Promise<Database> => openDatabaseWithoutMigrating('memory://');
async function openMigratedEmbedded(): Promise<Database> {
  const db = await openEmbedded();
  await migrate(db);
  return db;
}

const countRows = async (db: Database, table: string): Promise<number> =>
  (await db.em.fork().execute<{ count: number }[]>(`select count(*) as count from ${table}`))[0]?.count ?? -1;

const insertOrderSql = `insert into orders (user_id, status, currency, subtotal, shipping_total, tax_total, total, item_count, delivery)
  select min(id), 'pending', 'EUR', 900, 0, 0, 900, 1, '{"method":"pickup"}' from users returning id`;

/**
 * Inserts values that are hard to restore: quotes, line feeds, NULL, empty strings, JSON null, bytes, and numbers beyond JavaScript's
 * precision.
 */
async function insertDifficultValues(db: Database): Promise<void> {
  const em = db.em.fork();
  const names = ['Ann "Lee"', `O'Brien`, 'back\\slash', 'two\nlines\r\n', '{a,b}', 'NULL', '\u2028 🎁 \u{10ffff}', '\u0001\t', 'Žluťoučký'];
  for (const [n, name] of names.entries()) await em.execute('insert into users (name, email) values (?, ?)', [name, `odd${n}@example.com`]);
  await em.execute(
    `insert into applications (client_id, name, type, scopes, redirect_uris, logo_uri)
     values ('odd', 'Odd', 'public', array['a,b', 'NULL', '"', '\\', ''], '{}', null), ('even', 'Even', 'public', '{}', array['x y'], '')`,
  );
  await em.execute(
    `insert into audit_events (occurred_at, action, outcome, details) values
     ('2026-11-20 10:00:00.123Z', 'one', 'success', 'null'), ('infinity', 'two', 'refused', '{"a": [1e400, null, "\\u2028 \\n"], "b": 12345678901234567890.10}')`,
  );
  await em.execute('insert into attempts (key, points, expire) values (?, 1, null), (?, 2, 9223372036854775807)', ['', 'b']);
  await em.execute(
    'with made as (insert into task_files default values returning id) insert into task_file_chunks select id, 0, ?::bytea from made',
    [Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), randomBytes(300_000)])],
  );
  await em.execute(
    `insert into events (type, user_id, subject_type, subject_id, data) select 'odd', n, 'user', n, jsonb_build_object('n', n) from generate_series(1, 3000) n`,
  );
  for (let n = 0; n < 3; n += 1) await em.execute(insertOrderSql);
  await em.execute('delete from orders where id = (select max(id) from orders)');
}

const databases = [
  ...(databaseKind === 'postgresql' ? [['PostgreSQL', createMigratedDatabase, emptyDatabase] as const] : []),
  ['the embedded database', databaseKind === 'pglite' ? createMigratedDatabase : openMigratedEmbedded, openEmbedded] as const,
];
const directions = databases.flatMap(([from, fresh]) => databases.map(([to, , empty]) => ({ from, to, fresh, empty })));

/** Tables whose rows differ after a restore, because they contain the times of the migrations. */
// The statistics tables differ, too, because restoring the orders calculates the statistics again.
const excludedTables = ['mikro_orm_migrations', 'order_statistics', 'order_statistics_changes'];

/** Sums of the changes that are not yet part of the order statistics, for each currency. */
const sumStatisticsChanges = (db: Database): Promise<unknown> =>
  db.em
    .fork()
    .execute(
      'select currency, sum(orders) as orders, sum(items) as items, sum(revenue) as revenue, sum(refunded) as refunded from order_statistics_changes group by currency order by currency',
    );

describe.each(directions)('a backup of $from, restored into $to', { timeout: 180_000 }, ({ fresh, empty }) => {
  test('preserves every value and never reuses an ID', async () => {
    const [source, target] = [await trackOpened(fresh()), await trackOpened(empty())];
    await insertDifficultValues(source);
    const { tables, rows, bytes } = await writeTestBackup(source, file);
    expect([bytes, (await stat(file)).mode & 0o777]).toEqual([(await stat(file)).size, 0o600]);
    const before = await readAllRows(source, excludedTables);
    expect(rows).toBe(before.length);

    expect(await restore(target)).toEqual([]);
    expect(await readAllRows(target, excludedTables)).toEqual(before);
    expect(await sumStatisticsChanges(target)).toEqual(await sumStatisticsChanges(source));
    expect(await target.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
    expect(tables).toBeGreaterThan(30);
    // the order with the highest ID was deleted
    const ids = [await source.em.fork().execute(insertOrderSql), await target.em.fork().execute(insertOrderSql)];
    expect(ids[1]).toEqual(ids[0]);
    await expect(target.em.fork().execute('delete from audit_events')).rejects.toThrow('only added to');
  });
});

describe('a backup', { timeout: 180_000 }, () => {
  test('of an older release is restored and then migrated', async () => {
    const [source, target] = [await trackOpened(emptyDatabase()), await trackOpened(emptyDatabase())];
    const all = (await readMigrationState(source.em.fork())).pending;
    await source.migrator.up({ migrations: all.slice(0, -2) });
    await source.em.fork().execute(`insert into users (name, email) values ('Ann', 'ann@example.com')`);
    await writeTestBackup(source, file);
    expect(await restore(target)).toEqual(all.slice(-2));
    expect(await countRows(target, 'users')).toBe(1);
    expect(await target.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
  });

  test.skipIf(databaseKind === 'pglite')('is a consistent snapshot despite concurrent writes', async () => {
    const source = await trackOpened(createMigratedDatabase());
    const em = source.em.fork();
    await em.execute(
      `insert into events (type, subject_type, subject_id, data) select 'x', 'user', n, '{}' from generate_series(1, 20000) n`,
    );
    const done = new AbortController();
    const insertPair = async (n: number): Promise<void> => {
      await source.em.fork().transactional(async (inner) => {
        await inner.execute(`insert into events (type, subject_type, subject_id, data) values ('pair', 'user', ?, '{}')`, [n]);
        await inner.execute('insert into users (name, email) values (?, ?)', [`Pair ${n}`, `pair${n}@example.com`]);
      });
    };
    await insertPair(0);
    const concurrentWrites = (async () => {
      for (let n = 1; !done.signal.aborted; n += 1) await insertPair(n);
    })();
    await writeTestBackup(source, file);
    done.abort();
    await concurrentWrites;
    const target = await trackOpened(emptyDatabase());
    await restore(target);
    const pairs = await countRows(target, `events where type = 'pair'`);
    expect(pairs).toBeGreaterThanOrEqual(1);
    expect(await countRows(target, 'users')).toBe(pairs);
    expect(await countRows(source, 'users')).toBeGreaterThan(pairs);
  });

  test('overwrites no file, and leaves no file after a failure', async () => {
    const source = await trackOpened(createMigratedDatabase());
    await writeFile(file, 'mine');
    await expect(writeTestBackup(source, file)).rejects.toThrow('already exists');
    expect(await readFile(file, 'utf8')).toBe('mine');
    await expect(writeTestBackup(source, join(directory, 'nowhere', 'file'))).rejects.toThrow('ENOENT');
    const emptySource = await trackOpened(emptyDatabase());
    await expect(writeTestBackup(emptySource, join(directory, 'nothing'))).rejects.toThrow('nothing to back up');
    await expect(stat(join(directory, 'nothing'))).rejects.toThrow('ENOENT');
    await expect(stat(join(directory, 'nothing.part'))).rejects.toThrow('ENOENT');
  });

  test('of a database with migrations of a newer release is rejected', async () => {
    const source = await trackOpened(createMigratedDatabase());
    await source.em.fork().execute(`insert into mikro_orm_migrations (name) values ('20991231000000_later')`);
    await expect(writeTestBackup(source, file)).rejects.toThrow('a newer release has migrated the database (20991231000000_later)');
  });
});

/** File errors are detected before a database is opened, so these tests run only on PostgreSQL. */
const skipFileTests = databaseKind === 'pglite';
const rowSchema = z.array(z.string().nullable());

describe('a restore', { timeout: 180_000 }, () => {
  let target: Database;
  let lines: string[];
  beforeEach(async () => {
    const source = await trackOpened(createMigratedDatabase());
    await insertDifficultValues(source);
    await writeTestBackup(source, file);
    lines = await readBackupLines(file);
    target = await trackOpened(emptyDatabase());
  });

  /** Expects that the restore fails and leaves the database empty. Returns the error message. */
  const restoreError = async (): Promise<string> => {
    const message = await restore(target).catch((error: unknown) => String(error));
    expect(await readAllRows(target, excludedTables)).toEqual([]);
    return String(message);
  };
  /** Replaces the name in the first row of `users` and updates the table's checksum. */
  const replaceUserName = (name: string): string[] => {
    const start = lines.findIndex((line) => line.startsWith('{"table":"users"'));
    const end = lines.findIndex((line) => line.startsWith('{"end_of":"users"'));
    const rows = lines.slice(start + 1, end);
    const [first = []] = rows.map((line) => rowSchema.parse(JSON.parse(line)));
    rows[0] = JSON.stringify(first.with(1, name));
    const sha256 = createHash('sha256')
      .update(`${rows.join('\n')}\n`)
      .digest('hex');
    const tableEnd = JSON.stringify({ ...backupTableEndSchema.parse(JSON.parse(lines[end] ?? '')), sha256 });
    return [...lines.slice(0, start + 1), ...rows, tableEnd, ...lines.slice(end + 1)];
  };

  test.skipIf(skipFileTests)('rejects a file that is truncated at any offset', async () => {
    const original = await readFile(file);
    for (let part = 0; part < 12; part += 1) {
      await writeFile(file, original.subarray(0, Math.floor((original.length * part) / 12)));
      expect(await restoreError()).toContain('is a damaged backup');
    }
    await writeFile(file, gzipSync(lines.map((line) => `${line}\n`).join('')));
    expect(await restoreError()).toContain('its end is missing');
  });

  test.skipIf(skipFileTests)('rejects a file with a single changed bit at any offset', async () => {
    const original = await readFile(file);
    for (let part = 0; part < 24; part += 1) {
      const altered = Buffer.from(original);
      const at = 10 + Math.floor(((original.length - 11) * part) / 23); // skips the gzip header, which has unused bits
      altered.writeUInt8(altered.readUInt8(at) ^ (1 << (part % 8)), at);
      await writeFile(file, altered);
      await expect(verifyBackupAndReadHeader(file, silent), `byte ${at}`).rejects.toThrow(/is a damaged backup|is not a Mandate backup/);
    }
    expect(await restoreError()).toContain('backup');
  });

  test.skipIf(skipFileTests)('rejects a file that was sealed or extended without the secret', async () => {
    await writeBackupLines(file, replaceUserName('Somebody else'), randomBytes(32));
    expect(await restoreError()).toContain('it has been changed');
    await writeBackupLines(file, lines, key);
    await writeFile(file, Buffer.concat([await readFile(file), gzipSync('{"more":1}\n')]));
    expect(await restoreError()).toContain('it continues after its end');
  });

  test.skipIf(skipFileTests)('rejects a file with a missing row or table', async () => {
    const at = lines.findIndex((line) => line.startsWith('{"table":"users"'));
    await writeBackupLines(file, lines.toSpliced(at + 1, 1), key);
    expect(await restoreError()).toContain('the rows of users have been changed');
    const end = lines.findIndex((line) => line.startsWith('{"end_of":"users"'));
    const withLine = (index: number, from: RegExp, to: string): string[] => lines.with(index, (lines[index] ?? '').replace(from, to));
    for (const altered of [withLine(at, /"rows":\d+/, '"rows":123456'), withLine(end, /"end_of":"users"/, '"end_of":"orders"')]) {
      expect(altered).not.toEqual(lines);
      await writeBackupLines(file, altered, key);
      expect(await restoreError()).toContain('the rows of users have been changed');
    }
    await writeBackupLines(file, lines.toSpliced(at, end - at + 1), key);
    expect(await restoreError()).toContain('it has been changed');
  });

  test.skipIf(skipFileTests)('rejects a file of a server with a different secret', async () => {
    const reading = { key: randomBytes(32), onBytes: () => undefined };
    await expect(verifyBackupAndReadHeader(file, reading)).rejects.toThrow('was created with another MANDATE_SECRET');
  });

  test.skipIf(skipFileTests)('rejects invalid files and files of a newer release', async () => {
    await writeFile(file, gzipSync('{"some":"thing"}\n'));
    expect(await restoreError()).toContain('is not a Mandate backup');
    await writeFile(file, 'some text');
    expect(await restoreError()).toContain('is a damaged backup');
    const [first = ''] = lines;
    await writeBackupLines(file, [first.replace('"migrations":[', '"migrations":["20991231000000_later",'), ...lines.slice(1)], key);
    expect(await restoreError()).toContain('was created by a newer release (20991231000000_later)');
    await writeBackupLines(file, [first.replace('"version":1', '"version":2'), ...lines.slice(1)], key);
    expect(await restoreError()).toContain('was written by a newer release');
  });

  test('is rolled back after a database error, so that the next attempt starts with an empty database', async () => {
    await writeBackupLines(file, replaceUserName(''), key);
    expect(await restoreError()).toContain('users_name_check');
    await writeBackupLines(file, replaceUserName('Somebody else'), key);
    await restore(target);
    expect(await countRows(target, `users where name = 'Somebody else'`)).toBe(1);
  });

  test('rejects a database with data and does not change it', async () => {
    const databaseWithData = await trackOpened(createMigratedDatabase());
    await databaseWithData.em.fork().execute(`insert into users (name, email) values ('Ann', 'ann@example.com')`);
    const before = await readAllRows(databaseWithData);
    await expect(restore(databaseWithData)).rejects.toThrow('the database is not empty');
    expect(await readAllRows(databaseWithData)).toEqual(before);
  });
});
