import { afterAll, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { killServerProcesses } from '../../support/server/server-process.ts';
import { violationLines } from '../report.ts';
import { openSoak, soak } from '../soak.ts';

afterAll(killServerProcesses);

test.skipIf(databaseKind === 'pglite')('memory and connections stay bounded during 15 seconds of load', { timeout: 300_000 }, async () => {
  await using environment = await openSoak();
  const outcome = await soak(environment, { times: 1, seconds: 15, expireLeases: true, load: { shoppers: 3, users: 1 } });
  expect(violationLines(outcome)).toEqual([]);
  expect(outcome.acknowledged).toBeGreaterThan(50);
  const [first, last] = [outcome.samples[0], outcome.samples.at(-1)];
  // Each of the two servers has a pool of ten connections, and one connection for event notifications.
  expect(last?.connections).toBeLessThanOrEqual(2 * (10 + 1));
  // the limit allows for caches, such as the cache of verified tokens, but not for memory use that grows with every request
  for (const [nth, { heapMb }] of (last?.processes ?? []).entries()) expect(heapMb).toBeLessThan((first?.processes[nth]?.heapMb ?? 0) + 25);
});
