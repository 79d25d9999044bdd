import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareBatchedLookupStatement } from '../../server/database/queries/batched-statement.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { prepareStatement } from '../../server/database/queries/prepared-statement.ts';
import { databaseKind, createMigratedDatabase } from '../support/services/database.ts';

let db: Database;
let collectGarbage: () => void;
beforeAll(async () => {
  db = await createMigratedDatabase();
  setFlagsFromString('--expose-gc');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the flag adds this function to new contexts
  collectGarbage = runInNewContext('gc') as () => void;
});
afterAll(() => db.close());

const echo = prepareStatement<{ number: number }>('left_behind_statement', 'select $1::int8 as number');
const echoBatched = prepareBatchedLookupStatement<{ number: number }>('left_behind_together', ['int8'], 'select $1::int8 as number');

const oldBytes = (): number => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? NaN;

const repeatedly = async (runQuery: () => Promise<unknown>, times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1) await runQuery();
};

/**
 * Measures how many bytes each call leaves in V8's old space. Returns the minimum of four rounds, because other code also allocates memory.
 */
async function retainedBytesPerCall(runQuery: () => Promise<unknown>): Promise<number> {
  await repeatedly(runQuery, 3_000);
  const rounds: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const inFlight = runQuery();
    collectGarbage();
    await inFlight;
    const before = oldBytes();
    await repeatedly(runQuery, 5_000);
    rounds.push((oldBytes() - before) / 5_000);
  }
  return Math.min(...rounds);
}

// each retained closure takes 56 bytes, plus all objects that it references
test.skipIf(databaseKind === 'pglite')('a statement retains no objects until the next full garbage collection', async () => {
  expect(await retainedBytesPerCall(() => echo(db.em, [1]))).toBeLessThan(40);
});

test.skipIf(databaseKind === 'pglite')('a batched lookup retains no objects until the next full garbage collection', async () => {
  expect(await retainedBytesPerCall(() => echoBatched(db.em, [1]))).toBeLessThan(40);
});
