import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { tableEndSchema } from '../../server/backup/backup-format.ts';
import { verifyBackup } from '../../server/backup/read-backup.ts';
import { restoreBackup } from '../../server/backup/restore-backup.ts';
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import { readMigrationState } from '../../server/database/migrate/migration-state.ts';
import { openDatabase } from '../../server/schema/open-database.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager.ts';
import { backupKey as key, backupOf, linesOfBackup, writeLines } from '../support/server/backup-file.ts';
import { databaseKind, emptyPostgresqlUrl, freshDatabase } from '../support/services/database.ts';
import { rowsOf } from '../support/dump.ts';

let directory: string;
let file: string;
const opened: Database[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mandate-backup-'));
  file = join(directory, 'mandate.backup');
});
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
  await rm(directory, { recursive: true });
});

async function opening(db: Promise<Database>): Promise<Database> {
  opened.push(await db);
  return db;
}
const silent = { key, onBytes: () => undefined };

/** As `mandate-server restore` does it: the whole file is read before anything is done. */
async function restore(db: Database, from = file): Promise<string[]> {
  return restoreBackup(db, from, await verifyBackup(from, silent), { key, onProgress: () => undefined });
}

/** Not even migrated. */
const emptyDatabase = async (): Promise<Database> =>
  openDatabase(databaseKind === 'pglite' ? 'memory://' : await emptyPostgresqlUrl(), { timeouts: 'none' });
const embedded = async (): Promise<Database> => openDatabase('memory://');
async function embeddedAndMigrated(): Promise<Database> {
  const db = await embedded();
  await migrate(db);
  return db;
}

const count = async (db: Database, table: string): Promise<number> =>
  (await db.em.fork().execute<{ count: number }[]>(`select count(*) as count from ${table}`))[0]?.count ?? -1;

const nextOrder = `insert into orders (user_id, status, currency, subtotal, shipping_total, tax_total, total, item_count, delivery)
  select min(id), 'pending', 'EUR', 900, 0, 0, 900, 1, '{"method":"pickup"}' from users returning id`;

/** What has gone wrong in backups of others: quotes, feeds, NULL beside an empty text and JSON's null, bytes, numbers beyond JavaScript's. */
async function fillWithOddities(db: Database): Promise<void> {
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
  for (let n = 0; n < 3; n += 1) await em.execute(nextOrder);
  await em.execute('delete from orders where id = (select max(id) from orders)');
}

const databases = [
  ...(databaseKind === 'postgresql' ? [['PostgreSQL', freshDatabase, emptyDatabase] as const] : []),
  ['the embedded database', embeddedAndMigrated, embedded] as const,
];
const ways = databases.flatMap(([from, fresh]) => databases.map(([to, , empty]) => ({ from, to, fresh, empty })));

/** Rows that say when a migration ran. */
const ofItsOwn = ['mikro_orm_migrations'];

describe.each(ways)('a backup of $from, restored into $to', { timeout: 180_000 }, ({ fresh, empty }) => {
  test('gives every value back, and no number twice', async () => {
    const [source, target] = [await opening(fresh()), await opening(empty())];
    await fillWithOddities(source);
    const { tables, rows, bytes } = await backupOf(source, file);
    expect([bytes, (await stat(file)).mode & 0o777]).toEqual([(await stat(file)).size, 0o600]);
    const before = await rowsOf(source, ofItsOwn);
    expect(rows).toBe(before.length);

    expect(await restore(target)).toEqual([]);
    expect(await rowsOf(target, ofItsOwn)).toEqual(before);
    expect(await target.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
    expect(tables).toBeGreaterThan(30);
    // the last number was given to an order that is gone
    const ids = [await source.em.fork().execute(nextOrder), await target.em.fork().execute(nextOrder)];
    expect(ids[1]).toEqual(ids[0]);
    await expect(target.em.fork().execute('delete from audit_events')).rejects.toThrow('only added to');
  });
});

describe('a backup', { timeout: 180_000 }, () => {
  test('of an older release is restored as it was, and then migrated', async () => {
    const [source, target] = [await opening(emptyDatabase()), await opening(emptyDatabase())];
    const all = (await readMigrationState(source.em.fork())).pending;
    await source.migrator.up({ migrations: all.slice(0, -2) });
    await source.em.fork().execute(`insert into users (name, email) values ('Ann', 'ann@example.com')`);
    await backupOf(source, file);
    expect(await restore(target)).toEqual(all.slice(-2));
    expect(await count(target, 'users')).toBe(1);
    expect(await target.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
  });

  test.skipIf(databaseKind === 'pglite')('is of one moment, whatever happens meanwhile', async () => {
    const source = await opening(freshDatabase());
    const em = source.em.fork();
    await em.execute(
      `insert into events (type, subject_type, subject_id, data) select 'x', 'user', n, '{}' from generate_series(1, 20000) n`,
    );
    const done = new AbortController();
    const both = async (n: number): Promise<void> => {
      await source.em.fork().transactional(async (inner) => {
        await inner.execute(`insert into events (type, subject_type, subject_id, data) values ('pair', 'user', ?, '{}')`, [n]);
        await inner.execute('insert into users (name, email) values (?, ?)', [`Pair ${n}`, `pair${n}@example.com`]);
      });
    };
    await both(0);
    const writing = (async () => {
      for (let n = 1; !done.signal.aborted; n += 1) await both(n);
    })();
    await backupOf(source, file);
    done.abort();
    await writing;
    const target = await opening(emptyDatabase());
    await restore(target);
    const pairs = await count(target, `events where type = 'pair'`);
    expect(pairs).toBeGreaterThanOrEqual(1);
    expect(await count(target, 'users')).toBe(pairs);
    expect(await count(source, 'users')).toBeGreaterThan(pairs);
  });

  test('overwrites no file, and leaves none when it cannot be made', async () => {
    const source = await opening(freshDatabase());
    await writeFile(file, 'mine');
    await expect(backupOf(source, file)).rejects.toThrow('already exists');
    expect(await readFile(file, 'utf8')).toBe('mine');
    await expect(backupOf(source, join(directory, 'nowhere', 'file'))).rejects.toThrow('ENOENT');
    const nothing = await opening(emptyDatabase());
    await expect(backupOf(nothing, join(directory, 'nothing'))).rejects.toThrow('nothing to back up');
    await expect(stat(join(directory, 'nothing'))).rejects.toThrow('ENOENT');
    await expect(stat(join(directory, 'nothing.part'))).rejects.toThrow('ENOENT');
  });

  test('of a database that a newer release has migrated is refused', async () => {
    const source = await opening(freshDatabase());
    await source.em.fork().execute(`insert into mikro_orm_migrations (name) values ('20991231000000_later')`);
    await expect(backupOf(source, file)).rejects.toThrow('a newer release has migrated the database (20991231000000_later)');
  });
});

/** What is wrong with a file is found before any database is opened: one kind has to do. */
const ofFiles = databaseKind === 'pglite';
const row = z.array(z.string().nullable());

describe('no part is restored of a backup', { timeout: 180_000 }, () => {
  let target: Database;
  let lines: string[];
  beforeEach(async () => {
    const source = await opening(freshDatabase());
    await fillWithOddities(source);
    await backupOf(source, file);
    lines = await linesOfBackup(file);
    target = await opening(emptyDatabase());
  });

  /** Why; and that nothing is in the database then. */
  const refusal = async (): Promise<string> => {
    const why = await restore(target).catch((error: unknown) => String(error));
    expect(await rowsOf(target, ofItsOwn)).toEqual([]);
    return String(why);
  };
  /** Changes the first row of a table, and the sum of its rows with it. */
  const withUser = (name: string): string[] => {
    const begin = lines.findIndex((line) => line.startsWith('{"table":"users"'));
    const end = lines.findIndex((line) => line.startsWith('{"end_of":"users"'));
    const rows = lines.slice(begin + 1, end);
    const [first = []] = rows.map((line) => row.parse(JSON.parse(line)));
    rows[0] = JSON.stringify(first.with(1, name));
    const sha256 = createHash('sha256')
      .update(`${rows.join('\n')}\n`)
      .digest('hex');
    const ended = JSON.stringify({ ...tableEndSchema.parse(JSON.parse(lines[end] ?? '')), sha256 });
    return [...lines.slice(0, begin + 1), ...rows, ended, ...lines.slice(end + 1)];
  };

  test.skipIf(ofFiles)('that was cut off, at any place', async () => {
    const whole = await readFile(file);
    for (let part = 0; part < 12; part += 1) {
      await writeFile(file, whole.subarray(0, Math.floor((whole.length * part) / 12)));
      expect(await refusal()).toContain('is a damaged backup');
    }
    await writeFile(file, gzipSync(lines.map((line) => `${line}\n`).join('')));
    expect(await refusal()).toContain('its end is missing');
  });

  test.skipIf(ofFiles)('in which a single bit has changed, at any place', async () => {
    const whole = await readFile(file);
    for (let part = 0; part < 24; part += 1) {
      const altered = Buffer.from(whole);
      const at = 10 + Math.floor(((whole.length - 11) * part) / 23); // behind the head of a gzip file, which says nothing
      altered.writeUInt8(altered.readUInt8(at) ^ (1 << (part % 8)), at);
      await writeFile(file, altered);
      await expect(verifyBackup(file, silent), `byte ${at}`).rejects.toThrow(/is a damaged backup|is not a Mandate backup/);
    }
    expect(await refusal()).toContain('backup');
  });

  test.skipIf(ofFiles)('that somebody without the secret has written anew, or added to', async () => {
    await writeLines(file, withUser('Somebody else'), randomBytes(32));
    expect(await refusal()).toContain('it has been changed');
    await writeLines(file, lines, key);
    await writeFile(file, Buffer.concat([await readFile(file), gzipSync('{"more":1}\n')]));
    expect(await refusal()).toContain('it goes on after its end');
  });

  test.skipIf(ofFiles)('of which a row, or a table, is missing', async () => {
    const at = lines.findIndex((line) => line.startsWith('{"table":"users"'));
    await writeLines(file, lines.toSpliced(at + 1, 1), key);
    expect(await refusal()).toContain('the rows of users have been changed');
    const end = lines.findIndex((line) => line.startsWith('{"end_of":"users"'));
    await writeLines(file, lines.toSpliced(at, end - at + 1), key);
    expect(await refusal()).toContain('it has been changed');
  });

  test.skipIf(ofFiles)('that was made with another secret', async () => {
    const reading = { key: randomBytes(32), onBytes: () => undefined };
    await expect(verifyBackup(file, reading)).rejects.toThrow('was made with another MANDATE_SECRET');
  });

  test.skipIf(ofFiles)('that is none, or of a newer release', async () => {
    await writeFile(file, gzipSync('{"some":"thing"}\n'));
    expect(await refusal()).toContain('is not a Mandate backup');
    await writeFile(file, 'some text');
    expect(await refusal()).toContain('is a damaged backup');
    const [first = ''] = lines;
    await writeLines(file, [first.replace('"migrations":[', '"migrations":["20991231000000_later",'), ...lines.slice(1)], key);
    expect(await refusal()).toContain('was made by a newer release (20991231000000_later)');
    await writeLines(file, [first.replace('"version":1', '"version":2'), ...lines.slice(1)], key);
    expect(await refusal()).toContain('was written by a newer release');
  });

  test('that the database does not take: the next try begins with nothing', async () => {
    await writeLines(file, withUser(''), key);
    expect(await refusal()).toContain('users_name_check');
    await writeLines(file, withUser('Somebody else'), key);
    await restore(target);
    expect(await count(target, `users where name = 'Somebody else'`)).toBe(1);
  });

  test('into a database that is in use, which stays as it is', async () => {
    const used = await opening(freshDatabase());
    await used.em.fork().execute(`insert into users (name, email) values ('Ann', 'ann@example.com')`);
    const before = await rowsOf(used);
    await expect(restore(used)).rejects.toThrow('the database is not empty');
    expect(await rowsOf(used)).toEqual(before);
  });
});
