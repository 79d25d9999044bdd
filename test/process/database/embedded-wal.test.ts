import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWalLimitingCheckpointJob } from '../../../server/database/embedded/limit-wal-size.ts';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { createMigratedDataDirectory } from '../../support/server/migrated-data-directory.ts';

const segmentMegabytes = 16;

test('an embedded database keeps little WAL under continuous writes', { timeout: 120_000 }, async () => {
  await using data = await createMigratedDataDirectory();
  const directory = join(data.path, 'database');
  const db = await openDatabaseWithoutMigrating(directory);
  try {
    const em = db.em.fork();
    const job = createWalLimitingCheckpointJob(db);
    await em.execute('create table filler (text text)');
    for (let nth = 0; nth < 60; nth += 1) {
      await em.execute(`insert into filler select repeat('x', 1000) from generate_series(1, 5000)`);
      await em.execute('truncate filler');
      await job.run();
    }
    const segments = (await readdir(join(directory, 'pg_wal'))).filter((name) => /^[0-9A-F]{24}$/.test(name));
    expect(segments.length * segmentMegabytes).toBeLessThanOrEqual(160); // about 330 MB were written
  } finally {
    await db.close();
  }
});
