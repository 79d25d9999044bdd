import { readConfig } from './config.ts';
import { DataDirectoryInUseError } from './database/data-directory-lock.ts';
import { openMigratedDatabase } from './database/migrate.ts';
import { type Rotation, rotateSigningKeys } from './oauth/rotate-signing-keys.ts';
import { deriveKeys, keptSecret } from './secret-keys.ts';

/**
 * `npm run keys:rotate`: before their time; with `-- --at-once` for when a key has become known. Every process follows without a
 * restart. A running server has the embedded database for itself: there it is asked, by `mandate signing-keys rotate`.
 */
async function rotate(atOnce: boolean): Promise<Rotation> {
  const config = readConfig();
  const { signingKeys } = deriveKeys(config.secret ?? (await keptSecret(config.dataDirectory)));
  const db = await openMigratedDatabase(config.databaseUrl);
  try {
    return await rotateSigningKeys(db.em, signingKeys, new Date(), { when: atOnce ? 'at once' : 'asked' });
  } finally {
    await db.close();
  }
}

try {
  const { made, signsFrom, previousRetireAt } = await rotate(process.argv.includes('--at-once'));
  process.stdout.write(
    made === 0
      ? `The next signing keys are published already, and sign from ${signsFrom.toISOString()}.\n`
      : `${made} new signing keys are published. They sign from ${signsFrom.toISOString()}, and the keys before them go at ${previousRetireAt.toISOString()}.\n`,
  );
} catch (error) {
  if (!(error instanceof DataDirectoryInUseError)) throw error;
  process.stderr.write(`${error.message}. Ask the running server, as an administrator: mandate signing-keys rotate\n`);
  process.exitCode = 1;
}
