import { afterAll, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { endServerProcesses } from '../../support/server/server-process.ts';
import { complaints } from '../report.ts';
import { openSoak, soak } from '../soak.ts';

afterAll(endServerProcesses);

test.skipIf(databaseKind === 'pglite')('half a minute of use leaves nothing behind', { timeout: 300_000 }, async () => {
  await using stage = await openSoak();
  const outcome = await soak(stage, { times: 1, seconds: 30, hurry: true, load: { buyers: 3, visitors: 1 } });
  expect(complaints(outcome)).toEqual([]);
  expect(outcome.acknowledged).toBeGreaterThan(50);
  const [first, last] = [outcome.looks[0], outcome.looks.at(-1)];
  // Each of the two servers has a pool of ten connections, and one connection for event notifications.
  expect(last?.connections).toBeLessThanOrEqual(2 * (10 + 1));
  // what is kept for a while, such as tokens that were looked at, and nothing that grows with every request
  for (const [nth, { heapMb }] of (last?.vitals ?? []).entries()) expect(heapMb).toBeLessThan((first?.vitals[nth]?.heapMb ?? 0) + 40);
});
