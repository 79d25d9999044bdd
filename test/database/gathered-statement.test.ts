import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatheredStatement } from '../../server/database/gathered-statement.ts';
import type { Database } from '../../server/database/orm.ts';
import { freshDatabase } from '../support/database.ts';

let db: Database;
beforeAll(async () => {
  db = await freshDatabase();
  await db.em.fork().execute('create table notes (id int primary key, owner int not null, body text not null)');
  await db.em.fork().execute(`insert into notes select n, n % 3, 'note ' || n from generate_series(1, 1000) n`);
});
afterAll(() => db.close());

const readNote = gatheredStatement<{ body: string }>(
  'test_read_note',
  ['int', 'int'],
  'select body from notes where id = $1 and owner = $2',
);
const divide = gatheredStatement<{ result: number }>('test_divide', ['int'], 'select 6 / $1 as result');

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
