import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { openForReading } from '../backup/open-database-read-only.ts';
import { readConfig, type Config } from '../config/config.ts';
import { checkConnectionPooler } from '../database/connection/connection-pooler.ts';
import { migrationState } from '../database/migrate/migration-state.ts';
import { isPostgresql } from '../database/connection/database-url.ts';
import type { Database, Em } from '../database/entity-manager/entity-manager.ts';
import { smtpTransport } from '../mail/smtp-transport.ts';
import { expectSecretOf } from '../oauth/signing-keys/require-encryption-secret.ts';
import { explainFailure } from '../process/startup-error-message.ts';
import { reachSharedCounters } from '../rate-limits/redis-counters.ts';
import { deriveKeys, existingSecret } from '../crypto/derived-keys.ts';
import { CommandFailure } from '../process/command-failure.ts';
import { exitCodes } from '../process/exit-codes.ts';
import type { Io } from './io.ts';

/** `mandate-server check`: everything a server needs, without changing anything. Gives the exit code. */
export async function check(io: Io): Promise<number> {
  const report = new Report(io);
  const config = await report.look('configuration', async () => readConfig(), describeConfig);
  if (config) {
    await lookAtDatabase(report, config);
    await report.look('replica', () => reachReplica(config), String, 'Does it run, and is DATABASE_REPLICA_URL right?');
    await report.look('redis', () => reachRedis(config), String, 'Does Redis run, and is REDIS_URL right?');
    await report.look('mail', () => reachMailServer(config), String, 'Is MANDATE_SMTP_URL right, with the name and the password in it?');
  }
  return report.failed ? exitCodes.failed : exitCodes.done;
}

/** One line for each thing that is looked at. */
class Report {
  readonly #io: Io;
  failed = false;

  constructor(io: Io) {
    this.#io = io;
  }

  /** @param hint what to do when it fails in a way that does not say so itself */
  async look<Found>(what: string, find: () => Promise<Found>, describe: (found: Found) => string, hint = ''): Promise<Found | undefined> {
    try {
      const found = await find();
      this.#write('ok', what, describe(found));
      return found;
    } catch (error) {
      this.failed = true;
      this.#write('failed', what, [explainFailure(error), hint].filter(Boolean).join('. '));
      return undefined;
    }
  }

  #write(outcome: 'ok' | 'failed', what: string, detail: string): void {
    this.#io.stdout.write(`${outcome.padEnd(7)} ${what.padEnd(14)} ${detail}\n`);
  }
}

const describeConfig = ({ production, issuer }: Config): string => `${production ? 'production' : 'development'}, at ${issuer}`;

async function lookAtDatabase(report: Report, config: Config): Promise<void> {
  const { databaseUrl: url } = config;
  if (!isPostgresql(url) && !existsSync(join(url, 'PG_VERSION'))) {
    await report.look('database', async () => `embedded, and made by the first start at ${url}`, String);
    return;
  }
  const found = await report.look(
    'database',
    () => reachDatabase(config),
    ({ is }) => is,
    'Does it run, and is DATABASE_URL right?',
  );
  if (!found) return;
  await lookInside(report, config, found.db.em.fork());
  await found.db.close();
}

async function reachDatabase({ databaseUrl: url, preparedStatements }: Config): Promise<{ db: Database; is: string }> {
  let pool: Pool | undefined;
  const db = await openForReading(url, { preparedStatements: false, onPool: (made) => (pool = made) });
  try {
    const [row] = await db.em
      .fork()
      .execute<{ name: string; version: string }[]>(`select current_database() as name, current_setting('server_version') as version`);
    if (!pool) return { db, is: `embedded, at ${url}` };
    const between = (await checkConnectionPooler(pool, preparedStatements)) === 'pooler' ? ', through a connection pooler' : '';
    return { db, is: `PostgreSQL ${row?.version}, database ${row?.name}${between}` };
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function lookInside(report: Report, config: Config, em: Em): Promise<void> {
  const state = await report.look('migrations', () => migrationState(em), describeMigrations);
  if (!state || state.applied.length === 0) return;
  await report.look('secret', () => checkSecret(config, em), String);
  await report.look('administrator', () => countAdministrators(em), String);
}

function describeMigrations({ applied, pending, unknown }: Awaited<ReturnType<typeof migrationState>>): string {
  const more = [
    pending.length > 0 && `${pending.length} pending, which \`mandate-server migrate\` or the next start applies`,
    unknown.length > 0 && `${unknown.length} of them by a newer release`,
  ];
  return [`${applied.length} applied`, ...more].filter(Boolean).join(', ');
}

async function checkSecret({ secret, dataDirectory }: Config, em: Em): Promise<string> {
  const existing = secret ?? (await existingSecret(dataDirectory));
  const [sealed] = await em.execute<object[]>('select 1 from signing_keys limit 1');
  if (existing === undefined && !sealed) return 'none yet: the first start makes one';
  if (existing === undefined) throw new CommandFailure('there is none: set MANDATE_SECRET to the one this database was made with');
  await expectSecretOf(em, deriveKeys(existing).signingKeys);
  return sealed ? 'opens the signing keys in the database' : 'nothing in the database is sealed yet';
}

async function countAdministrators(em: Em): Promise<string> {
  const [row] = await em.execute<{ count: number }[]>(`select count(*) as count from users where role = 'admin' and status = 'active'`);
  return row?.count ? `${row.count} can sign in` : 'none yet: `mandate-server admin create` makes one';
}

async function reachReplica({ replicaUrl, preparedStatements }: Config): Promise<string> {
  if (replicaUrl === undefined) return 'not used: lists come from the database';
  const db = await openForReading(replicaUrl, { preparedStatements });
  try {
    const [row] = await db.em.fork().execute<{ follows: boolean }[]>('select pg_is_in_recovery() as follows');
    if (!row?.follows) throw new CommandFailure('it follows no other PostgreSQL: name a streaming replica of the database, or none');
    return 'answers';
  } finally {
    await db.close();
  }
}

async function reachRedis({ redisUrl }: Config): Promise<string> {
  if (redisUrl === undefined) return 'not used: each process counts requests for itself';
  await reachSharedCounters(redisUrl);
  return 'answers';
}

async function reachMailServer({ mail, production }: Config): Promise<string> {
  if (!mail) return production ? 'not set: nobody can sign up or choose a new password' : 'not set: messages stand in the log';
  const transport = await smtpTransport(mail.smtpUrl, mail.from);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
  return 'lets us in';
}
