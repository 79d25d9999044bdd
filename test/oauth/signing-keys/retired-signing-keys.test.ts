import { idTokenSigningAlgorithms } from '@mandate/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { rotateSigningKeysIfDueOrRequested } from '../../../server/oauth/signing-keys/rotate-signing-keys.ts';
import { createCacheWithLoadedOrNewSigningKeys } from '../../../server/oauth/signing-keys/rotating-signing-key-cache.ts';
import { createMigratedDatabase } from '../../support/services/database.ts';

const encryptionKey = Buffer.alloc(32);
let db: Database;
beforeAll(async () => {
  db = await createMigratedDatabase();
});
afterAll(() => db.close());

test('a retired signing key is removed from the published keys on time, without a database query', async () => {
  await createCacheWithLoadedOrNewSigningKeys(db.em, encryptionKey);
  const schedule = { every: 1_000, publishedBefore: 0, publishedAfter: 2 };
  await rotateSigningKeysIfDueOrRequested(db.em, encryptionKey, new Date(), { schedule, when: 'asked' });
  const keys = await createCacheWithLoadedOrNewSigningKeys(db.em, encryptionKey, { schedule, reloadAfterMs: 3_600_000 });
  const publishedKids = async (): Promise<unknown[]> => (await keys.current()).keys.map(({ kid }) => kid);
  const before = await publishedKids();
  expect(before).toHaveLength(2 * idTokenSigningAlgorithms.length);
  await expect.poll(publishedKids, { timeout: 10_000 }).toHaveLength(idTokenSigningAlgorithms.length);
  const after = await publishedKids();
  expect(before).toEqual(expect.arrayContaining(after));
});
