import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { openExistingDatabaseOrCopy } from '../backup/open-existing-database-or-copy.ts';
import { readConfig, type Config } from '../config/read-config.ts';
import { detectPoolerAndAssertCompatible } from '../database/connection/check-connection-pooler.ts';
import { readMigrationState } from '../database/migrate/read-migration-state.ts';
import { readDatabaseIdentity } from '../database/replica/read-wal-position-and-identity.sql.ts';
import { isPostgresqlUrl } from '../database/connection/is-postgresql-url.ts';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createSmtpTransport } from '../mail/smtp-transport.ts';
import { assertSecretMatchesSigningKeys } from '../oauth/signing-keys/assert-secret-matches-signing-keys.ts';
import { SigningKey } from '../oauth/signing-keys/signing-key.entity.ts';
import { User } from '../users/user.entity.ts';
import { MissingPackageError } from '../optional-packages/import-module-requiring-optional-packages.ts';
import { formatStartupError } from '../process/startup-error-message.ts';
import { pingRedis } from '../rate-limits/redis-counter-connection.ts';
import { deriveKeys, findStoredServerSecret } from '../crypto/derived-keys-and-server-secret.ts';
import { CommandError } from '../process/command-error.ts';
import { exitCodes } from '../process/exit-codes.ts';
import type { StandardStreams } from './standard-streams-type.ts';

/** Implements `mandate-server check`, which verifies everything that a server needs without changing anything. Returns the exit code. */
export async function runCheckCommand(io: StandardStreams): Promise<number> {
  const report = new CheckReport(io);
  const config = await report.run('configuration', async () => readConfig(), describeConfig);
  if (config) {
    await checkDatabase(report, config);
    await report.run('replica', () => checkReplica(config), String, 'Is it running, and is DATABASE_REPLICA_URL correct?');
    await report.run('redis', () => checkRedis(config), String, 'Is Redis running, and is REDIS_URL correct?');
    await report.run(
      'mail',
      () => checkMailServer(config),
      String,
      'Is MANDATE_SMTP_URL correct, including the user name and the password?',
    );
    const { backupDirectory } = config;
    if (backupDirectory !== undefined)
      await report.run('backups', () => checkBackupDirectory(backupDirectory), String, 'Is MANDATE_BACKUP_DIR the path of a directory?');
  }
  return report.failed ? exitCodes.failed : exitCodes.done;
}

/** Prints one line per check. */
class CheckReport {
  readonly #io: StandardStreams;
  failed = false;

  constructor(io: StandardStreams) {
    this.#io = io;
  }

  /** @param hint advice for the operator, which is appended to the error message */
  async run<Found>(name: string, verify: () => Promise<Found>, describe: (result: Found) => string, hint = ''): Promise<Found | undefined> {
    try {
      const result = await verify();
      this.#write('ok', name, describe(result));
      return result;
    } catch (error) {
      this.failed = true;
      this.#write('failed', name, [formatStartupError(error), error instanceof MissingPackageError ? '' : hint].filter(Boolean).join('. '));
      return undefined;
    }
  }

  #write(outcome: 'ok' | 'failed', name: string, detail: string): void {
    this.#io.stdout.write(`${outcome.padEnd(7)} ${name.padEnd(14)} ${detail}\n`);
  }
}

const describeConfig = ({ production, issuer }: Config): string => `${production ? 'production' : 'development'}, at ${issuer}`;

async function checkDatabase(report: CheckReport, config: Config): Promise<void> {
  const { databaseUrl: url } = config;
  if (!isPostgresqlUrl(url) && !existsSync(join(url, 'PG_VERSION'))) {
    await report.run('database', async () => `embedded; the first start creates it at ${url}`, String);
    return;
  }
  const result = await report.run(
    'database',
    () => connectToDatabase(config),
    ({ is }) => is,
    'Is it running, and is DATABASE_URL correct?',
  );
  if (!result) return;
  await checkDatabaseContent(report, config, result.db.em.fork());
  await result.db.close();
}

async function connectToDatabase({ databaseUrl: url, preparedStatements }: Config): Promise<{ db: Database; is: string }> {
  let pool: Pool | undefined;
  const db = await openExistingDatabaseOrCopy(url, { preparedStatements: false, onPool: (openedPool) => (pool = openedPool) });
  try {
    const row = await db.em
      .fork()
      .getKysely()
      .selectNoFrom((eb) => [
        eb.fn<string>('current_database').as('name'),
        eb.fn<string>('current_setting', [eb.val('server_version')]).as('version'),
      ])
      .executeTakeFirst();
    if (!pool) return { db, is: `embedded, at ${url}` };
    const poolerNote =
      (await detectPoolerAndAssertCompatible(pool, preparedStatements)) === 'pooler' ? ', through a connection pooler' : '';
    return { db, is: `PostgreSQL ${row?.version}, database ${row?.name}${poolerNote}` };
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function checkDatabaseContent(report: CheckReport, config: Config, em: EntityManager): Promise<void> {
  const state = await report.run('migrations', () => readMigrationState(em), describeMigrations);
  if (!state || state.applied.length === 0) return;
  await report.run('secret', () => checkSecret(config, em), String);
  await report.run('administrator', () => countAdministrators(em), String);
}

function describeMigrations({ applied, pending, unknown }: Awaited<ReturnType<typeof readMigrationState>>): string {
  const notes = [
    pending.length > 0 && `${pending.length} pending, which \`mandate-server migrate\` or the next start applies`,
    unknown.length > 0 && `${unknown.length} of them from a newer release`,
  ];
  return [`${applied.length} applied`, ...notes].filter(Boolean).join(', ');
}

async function checkSecret({ secret, dataDirectory }: Config, em: EntityManager): Promise<string> {
  const existing = secret ?? (await findStoredServerSecret(dataDirectory));
  const sealed = (await em.count(SigningKey)) > 0;
  if (existing === undefined && !sealed) return 'none yet: the first start creates one';
  if (existing === undefined) throw new CommandError('missing: set MANDATE_SECRET to the secret that this database was created with');
  await assertSecretMatchesSigningKeys(em, deriveKeys(existing).signingKeys);
  return sealed ? 'decrypts the signing keys in the database' : 'the database contains no encrypted data yet';
}

async function countAdministrators(em: EntityManager): Promise<string> {
  const count = await em.count(User, { role: 'admin', status: 'active' });
  return count > 0 ? `${count} can sign in` : 'none yet: `mandate-server admin create` creates one';
}

async function checkReplica({ replicaUrl, preparedStatements }: Config): Promise<string> {
  if (replicaUrl === undefined) return 'not used: list queries run on the database';
  const db = await openExistingDatabaseOrCopy(replicaUrl, { preparedStatements });
  try {
    const [row] = await readDatabaseIdentity(db.em.fork(), []);
    if (!row?.standby) throw new CommandError('it is not a replica: specify a streaming replica of the database, or none');
    return 'answers';
  } finally {
    await db.close();
  }
}

async function checkRedis({ redisUrl }: Config): Promise<string> {
  if (redisUrl === undefined) return 'not used: each process counts requests separately';
  await pingRedis(redisUrl);
  return 'answers';
}

async function checkMailServer({ mail, production }: Config): Promise<string> {
  if (!mail) return production ? 'not set: users cannot sign up or reset their passwords' : 'not set: messages are written to the log';
  const transport = await createSmtpTransport(mail.smtpUrl, mail.from);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
  return 'sign-in succeeded';
}

async function checkBackupDirectory(directory: string): Promise<string> {
  await access(directory, constants.R_OK | constants.W_OK);
  return 'this account may read and write the directory';
}
