import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareBatchedLookup } from '../../server/database/queries/batched-statement.ts';
import { roundedLimitSql, runDynamicQuery } from '../../server/database/queries/dynamic-query.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager.ts';
import { databaseKind, freshDatabase } from '../support/services/database.ts';

let db: Database;
beforeAll(async () => {
  db = await freshDatabase();
  await db.em.fork().execute('create table notes (id int primary key, owner int not null, body text not null)');
  await db.em.fork().execute(`insert into notes select n, n % 3, 'note ' || n from generate_series(1, 1000) n`);
});
afterAll(() => db.close());

const readNote = prepareBatchedLookup<{ body: string }>(
  'test_read_note',
  ['int', 'int'],
  'select body from notes where id = $1 and owner = $2',
);
const divide = prepareBatchedLookup<{ result: number }>('test_divide', ['int'], 'select 6 / $1 as result');

describe('questions of one turn', () => {
  test('are answered each for itself, however many there are, and whoever may not see a row gets none', async () => {
    const ids = Array.from({ length: 1000 }, (_, index) => index + 1);
    const answers = await Promise.all(ids.map((id) => readNote(db.em, [id, 1])));
    expect(answers.map((answer) => answer?.body)).toEqual(ids.map((id) => (id % 3 === 1 ? `note ${id}` : undefined)));
  });

  test('fail each for itself', async () => {
    const answers = await Promise.allSettled([1, 0, 2, 0, 3].map((by) => divide(db.em, [by])));
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value?.result : 'failed'))).toEqual([
      6,
      'failed',
      3,
      'failed',
      2,
    ]);
  });
});

test('equal questions of one turn are one', async () => {
  const next = prepareBatchedLookup<{ number: number }>('test_next', ['text'], `select nextval($1::regclass) as number`);
  for (const name of ['numbers', 'others']) await db.em.fork().execute(`create sequence ${name}`);
  const answers = await Promise.all(['numbers', 'others', 'numbers', 'numbers'].map((name) => next(db.em, [name])));
  expect(answers).toEqual(Array.from({ length: 4 }, () => ({ number: 1 })));
  expect(await next(db.em, ['numbers'])).toEqual({ number: 2 });
});

test.skipIf(databaseKind === 'pglite')('an answer does not wait for those that take longer', async () => {
  const blocked = prepareBatchedLookup<{ time: number }>(
    'test_blocked',
    ['boolean'],
    `select nextval('asked') as time, repeat('.', 20000) as text, case when $1 then pg_advisory_xact_lock_shared(7) end`,
  );
  await db.em.fork().execute('create sequence asked');
  const [locked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = db.em.fork().transactional(async (em) => {
    await em.execute('select pg_advisory_xact_lock(7)');
    locked.resolve();
    await answered.promise;
  });
  await locked.promise;
  const [free, waiting] = [blocked(db.em, [false]), blocked(db.em, [true])];
  expect(await free).toMatchObject({ time: 1 });
  answered.resolve();
  expect(await waiting).toMatchObject({ time: 2 });
  await locking;
});

describe.each(['even', 'any'] as const)('lists that cost %s', (cost) => {
  const notesOf = (owner: number, bodies: readonly string[]) =>
    runDynamicQuery(
      db.em,
      sql<{
        id: number;
        body: string;
      }>`select id, body from notes where owner = ${owner} and body = any(${bodies}::text[]) order by id desc limit ${roundedLimitSql(20)}`,
      cost,
    );

  test('are each of who asked, in their order, however many ask', async () => {
    const bodies = ['note 1', 'note 2', 'note 5', 'note 10'];
    const lists = await Promise.all(Array.from({ length: 300 }, (_, n) => notesOf(n % 3, bodies)));
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

  test('take what callers write in their filters for what it is', async () => {
    const strange = ['a,b', 'quote " and { brace }', String.raw`back\slash`, 'NULL', '', "it's", '$1'];
    await db.em
      .fork()
      .execute(`insert into notes select 2000 + n + ?, 9, body from unnest(?::text[]) with ordinality as strange (body, n)`, [
        cost === 'even' ? 0 : 100,
        `{${strange.map((body) => JSON.stringify(body)).join()}}`,
      ]);
    const found = await Promise.all(strange.map((body) => notesOf(9, [body, 'none'])));
    expect(found.map(([first]) => first?.body)).toEqual(strange);
    expect(new Set((await notesOf(9, strange)).map(({ body }) => body))).toEqual(new Set(strange));
    await db.em.fork().execute('delete from notes where owner = 9');
  });

  test('come without a question too', async () => {
    const asked = Array.from({ length: 3 }, () =>
      runDynamicQuery(db.em, sql`select id from notes order by id limit ${roundedLimitSql(100)}`, cost),
    );
    for (const rows of await Promise.all(asked)) expect(rows.length).toBe(101);
  });

  test('fail each for itself', async () => {
    const divided = (by: number) => runDynamicQuery(db.em, sql<{ result: number }>`select 6 / ${by} as result`, cost);
    const answers = await Promise.allSettled([1, 0, 2].map(divided));
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

test.skipIf(databaseKind === 'pglite')(
  'of ever more shapes of lists so many have a plan kept, and the others are answered too',
  async () => {
    for (let n = 0; n < 600; n += 1) expect(await runDynamicQuery(db.em, sql.raw(`select ${n} as n`))).toEqual([{ n }]);
    const [kept] = await db.em.fork().execute(`select count(*) as count from pg_prepared_statements where name like 'q\\_%'`);
    expect(kept?.count).toBeGreaterThan(100);
    expect(kept?.count).toBeLessThanOrEqual(500);
  },
);

test('what was committed before the question is in the answer, also while earlier questions are being answered', async () => {
  for (let round = 0; round < 50; round += 1) {
    const earlier = [1, 2, 3].map((id) => readNote(db.em, [id, id % 3]));
    await db.em.fork().execute('update notes set body = ? where id = 7', [`round ${round}`]);
    expect(await readNote(db.em, [7, 1])).toEqual({ body: `round ${round}` });
    await Promise.all(earlier);
  }
});

test('a question of a transaction is asked in it', async () => {
  let seen: unknown;
  const undone = db.em.fork().transactional(async (em) => {
    await em.execute(`update notes set body = 'not committed' where id = 4`);
    seen = await readNote(em, [4, 1]);
    throw new Error('undo');
  });
  await expect(undone).rejects.toThrow('undo');
  expect(seen).toEqual({ body: 'not committed' });
  expect(await readNote(db.em, [4, 1])).toEqual({ body: 'note 4' });
});
