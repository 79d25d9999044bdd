import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareBatchedLookupStatement } from '../../server/database/queries/batched-statement.ts';
import { roundUpLimitAndAddOneSql, runPreparedDynamicQuery } from '../../server/database/queries/dynamic-query.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { databaseKind, createMigratedDatabase } from '../support/services/database.ts';

let db: Database;
beforeAll(async () => {
  db = await createMigratedDatabase();
  await db.em.fork().execute('create table notes (id int primary key, owner int not null, body text not null)');
  await db.em.fork().execute(`insert into notes select n, n % 3, 'note ' || n from generate_series(1, 1000) n`);
});
afterAll(() => db.close());

const readNote = prepareBatchedLookupStatement<{ body: string }>(
  'test_read_note',
  ['int', 'int'],
  'select body from notes where id = $1 and owner = $2',
);
const divide = prepareBatchedLookupStatement<{ result: number }>('test_divide', ['int'], 'select 6 / $1 as result');

describe('batched lookups in one event-loop turn', () => {
  test('return one row per call, and no row for a different owner', async () => {
    const ids = Array.from({ length: 1000 }, (_, index) => index + 1);
    const results = await Promise.all(ids.map((id) => readNote(db.em, [id, 1])));
    expect(results.map((row) => row?.body)).toEqual(ids.map((id) => (id % 3 === 1 ? `note ${id}` : undefined)));
  });

  test('reject only the calls that fail', async () => {
    const results = await Promise.allSettled([1, 0, 2, 0, 3].map((by) => divide(db.em, [by])));
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value?.result : 'failed'))).toEqual([
      6,
      'failed',
      3,
      'failed',
      2,
    ]);
  });
});

test('equal lookups in one event-loop turn run once', async () => {
  const next = prepareBatchedLookupStatement<{ number: number }>('test_next', ['text'], `select nextval($1::regclass) as number`);
  for (const name of ['numbers', 'others']) await db.em.fork().execute(`create sequence ${name}`);
  const results = await Promise.all(['numbers', 'others', 'numbers', 'numbers'].map((name) => next(db.em, [name])));
  expect(results).toEqual(Array.from({ length: 4 }, () => ({ number: 1 })));
  expect(await next(db.em, ['numbers'])).toEqual({ number: 2 });
});

test.skipIf(databaseKind === 'pglite')('a lookup does not wait for slower lookups in the same batch', async () => {
  const lookup = prepareBatchedLookupStatement<{ time: number }>(
    'test_blocked',
    ['boolean'],
    `select nextval('calls') as time, repeat('.', 20000) as text, case when $1 then pg_advisory_xact_lock_shared(7) end`,
  );
  await db.em.fork().execute('create sequence calls');
  const [locked, returned] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const lockTransaction = db.em.fork().transactional(async (em) => {
    await em.execute('select pg_advisory_xact_lock(7)');
    locked.resolve();
    await returned.promise;
  });
  await locked.promise;
  const [unlocked, waiting] = [lookup(db.em, [false]), lookup(db.em, [true])];
  expect(await unlocked).toMatchObject({ time: 1 });
  returned.resolve();
  expect(await waiting).toMatchObject({ time: 2 });
  await lockTransaction;
});

describe.each(['even', 'any'] as const)('dynamic queries with cost %s', (cost) => {
  const listNotes = (owner: number, bodies: readonly string[]) =>
    runPreparedDynamicQuery(
      db.em,
      sql<{
        id: number;
        body: string;
      }>`select id, body from notes where owner = ${owner} and body = any(${bodies}::text[]) order by id desc limit ${roundUpLimitAndAddOneSql(20)}`,
      cost,
    );

  test('return to each of 300 concurrent callers its own rows, in order', async () => {
    const bodies = ['note 1', 'note 2', 'note 5', 'note 10'];
    const lists = await Promise.all(Array.from({ length: 300 }, (_, n) => listNotes(n % 3, bodies)));
    const expected = [
      [],
      [
        { id: 10, body: 'note 10' },
        { id: 1, body: 'note 1' },
      ],
      [
        { id: 5, body: 'note 5' },
        { id: 2, body: 'note 2' },
      ],
    ];
    for (const [n, list] of lists.entries()) expect(list).toEqual(expected[n % 3]);
  });

  test('treat special characters in filters as plain text', async () => {
    const specialTexts = ['a,b', 'quote " and { brace }', String.raw`back\slash`, 'NULL', '', "it's", '$1'];
    await db.em
      .fork()
      .execute(`insert into notes select 2000 + n + ?, 9, body from unnest(?::text[]) with ordinality as special (body, n)`, [
        cost === 'even' ? 0 : 100,
        `{${specialTexts.map((body) => JSON.stringify(body)).join()}}`,
      ]);
    const found = await Promise.all(specialTexts.map((body) => listNotes(9, [body, 'none'])));
    expect(found.map(([first]) => first?.body)).toEqual(specialTexts);
    expect(new Set((await listNotes(9, specialTexts)).map(({ body }) => body))).toEqual(new Set(specialTexts));
    await db.em.fork().execute('delete from notes where owner = 9');
  });

  test('run without parameters', async () => {
    const queries = Array.from({ length: 3 }, () =>
      runPreparedDynamicQuery(db.em, sql`select id from notes order by id limit ${roundUpLimitAndAddOneSql(100)}`, cost),
    );
    for (const rows of await Promise.all(queries)) expect(rows.length).toBe(101);
  });

  test('reject only the calls that fail', async () => {
    const divided = (by: number) => runPreparedDynamicQuery(db.em, sql<{ result: number }>`select 6 / ${by} as result`, cost);
    const results = await Promise.allSettled([1, 0, 2].map(divided));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

test.skipIf(databaseKind === 'pglite')(
  'a connection keeps the plans of at most 500 dynamic queries and still runs all others',
  async () => {
    for (let n = 0; n < 600; n += 1) expect(await runPreparedDynamicQuery(db.em, sql.raw(`select ${n} as n`))).toEqual([{ n }]);
    const [prepared] = await db.em.fork().execute(`select count(*) as count from pg_prepared_statements where name like 'q\\_%'`);
    expect(prepared?.count).toBeGreaterThan(100);
    expect(prepared?.count).toBeLessThanOrEqual(500);
  },
);

test('a lookup sees all earlier commits, even while earlier lookups are in flight', async () => {
  for (let round = 0; round < 50; round += 1) {
    const earlier = [1, 2, 3].map((id) => readNote(db.em, [id, id % 3]));
    await db.em.fork().execute('update notes set body = ? where id = 7', [`round ${round}`]);
    expect(await readNote(db.em, [7, 1])).toEqual({ body: `round ${round}` });
    await Promise.all(earlier);
  }
});

test('a lookup in a transaction sees uncommitted changes of the transaction', async () => {
  let seen: unknown;
  const rolledBack = db.em.fork().transactional(async (em) => {
    await em.execute(`update notes set body = 'not committed' where id = 4`);
    seen = await readNote(em, [4, 1]);
    throw new Error('undo');
  });
  await expect(rolledBack).rejects.toThrow('undo');
  expect(seen).toEqual({ body: 'not committed' });
  expect(await readNote(db.em, [4, 1])).toEqual({ body: 'note 4' });
});
