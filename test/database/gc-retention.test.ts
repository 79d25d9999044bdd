import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareBatchedLookup } from '../../server/database/queries/batched-statement.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../server/database/queries/prepared-statement.ts';
import { databaseKind, freshDatabase } from '../support/services/database.ts';

let db: Database;
let collectGarbage: () => void;
beforeAll(async () => {
  db = await freshDatabase();
  setFlagsFromString('--expose-gc');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the flag gives to contexts made after it
  collectGarbage = runInNewContext('gc') as () => void;
});
afterAll(() => db.close());

const echo = prepareStatement<{ number: number }>('left_behind_statement', 'select $1::int8 as number');
const echoTogether = prepareBatchedLookup<{ number: number }>('left_behind_together', ['int8'], 'select $1::int8 as number');

const oldBytes = (): number => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? NaN;

const repeatedly = async (ask: () => Promise<unknown>, times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1) await ask();
};

/** Bytes that each leaves among the old objects; something else of this process may come on top, so the least of some rounds. */
async function leftBehind(ask: () => Promise<unknown>): Promise<number> {
  await repeatedly(ask, 3_000);
  const rounds: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const underWay = ask();
    collectGarbage();
    await underWay;
    const before = oldBytes();
    await repeatedly(ask, 5_000);
    rounds.push((oldBytes() - before) / 5_000);
  }
  return Math.min(...rounds);
}

// one kept function is 56 bytes, and has with it all that it refers to
test.skipIf(databaseKind === 'pglite')('a statement leaves nothing behind that only a full collection would find', async () => {
  expect(await leftBehind(() => echo(db.em, [1]))).toBeLessThan(40);
});

test.skipIf(databaseKind === 'pglite')('nor does a question that is asked together with others', async () => {
  expect(await leftBehind(() => echoTogether(db.em, [1]))).toBeLessThan(40);
});
