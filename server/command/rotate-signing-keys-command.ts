import { readConfig } from '../config/read-config.ts';
import { migrate } from '../database/migrate/run-migrations.ts';
import { rotateSigningKeysIfDueOrRequested } from '../oauth/signing-keys/rotate-signing-keys.ts';
import { deriveKeys, loadOrCreateServerSecret } from '../crypto/derived-keys-and-server-secret.ts';
import { openDatabaseRunAndClose } from './open-database-and-derive-keys.ts';
import type { StandardStreams } from './standard-streams-type.ts';

const alternative = 'Ask the running server, as an administrator: mandate signing-keys rotate';

/**
 * Implements `mandate-server keys rotate`, which rotates the signing keys before their scheduled time. Use `atOnce` if a key has leaked.
 * All processes switch to the new keys without a restart.
 */
export async function runRotateSigningKeysCommand({ stdout }: StandardStreams, atOnce: boolean): Promise<void> {
  const config = readConfig();
  const { signingKeys } = deriveKeys(config.secret ?? (await loadOrCreateServerSecret(config.dataDirectory)));
  const { made, signsFrom, previousRetireAt } = await openDatabaseRunAndClose(config, alternative, async (db) => {
    await migrate(db);
    return rotateSigningKeysIfDueOrRequested(db.em, signingKeys, new Date(), { when: atOnce ? 'at once' : 'asked' });
  });
  stdout.write(
    made === 0
      ? `The next signing keys have already been published, and will be used for signing from ${signsFrom.toISOString()}.\n`
      : `${made} new signing keys have been published. They will be used for signing from ${signsFrom.toISOString()}. The previous keys will be removed at ${previousRetireAt.toISOString()}.\n`,
  );
}
