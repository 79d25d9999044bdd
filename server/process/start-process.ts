import { offerCopies } from '../backup/backup-socket.ts';
import type { Config } from '../config/config.ts';
import { openMigratedDatabase } from '../schema/open-migrated-database.ts';
import type { Database } from '../database/entity-manager/entity-manager.ts';
import { isPostgresql } from '../database/connection/database-url.ts';
import { openDatabase } from '../schema/open-database.ts';
import { Replica } from '../database/replica/read-replica.ts';
import { StorageReserve } from '../database/storage/storage-reserve.ts';
import { forwardOwnWrites, listenForEvents } from '../events/event-notifications.ts';
import { LastUse } from '../api-keys/api-key-use-buffer.ts';
import type { Log } from '../logging/logger.ts';
import { openPaymentProviders } from '../payments/providers/open-providers.ts';
import { startBackgroundWork, transportOf } from './background-jobs.ts';
import { limitMemory } from './limit-memory.ts';
import type { ProcessParts } from './process-dependencies.ts';
import { reloadSecretsOnHangup, ReplaceableTransport } from './reload-on-sighup.ts';
import { startWatchdog } from './watchdog.ts';
import { startAnsweringHealth, startServing } from './start-web.ts';
import { deriveKeys, keptSecret } from '../crypto/derived-keys.ts';
import { MonthlyUse } from '../usage/usage-buffer.ts';

/** Starts everything that the role of the process requires; `opened` closes it. */
export async function startProcess(config: Config, log: Log, opened: AsyncDisposableStack): Promise<void> {
  const dependencies = await openDependencies(config, log, opened);
  limitMemory();
  // Started late, because a single migration statement or the recovery of an embedded database can take longer than the limit.
  startWatchdog(config.watchdogSeconds, config.production, log);
  if (config.production && config.payments.test) log.warn('orders can be paid with test tokens: MANDATE_TEST_PAYMENTS is on');
  const background = startBackgroundWork(dependencies);
  opened.defer(() => background.stop());
  opened.defer(await offerCopies(dependencies.db, config.databaseUrl, log));
  if (config.role === 'worker') await startAnsweringHealth(dependencies, opened);
  else await startServing(dependencies, () => background.wake(), opened);
  // Deferred again, so that background jobs stop while the last requests are finished.
  opened.defer(async () => void background.stop());
}

/** Opens what all roles need. `opened` closes in reverse order, so that consumers stop before their dependencies. */
async function openDependencies(config: Config, log: Log, opened: AsyncDisposableStack): Promise<ProcessParts> {
  // loaded only when it is used
  const metrics = config.metrics && new (await import('../metrics/metrics.ts')).Metrics(log);
  const { directDatabaseUrl: directUrl, preparedStatements, databaseStartTimeoutSeconds: seconds } = config;
  const wait = { seconds, log };
  const storage = isPostgresql(config.databaseUrl) ? undefined : new StorageReserve(config.databaseUrl, log);
  const db = await openMigratedDatabase(config.databaseUrl, { directUrl, preparedStatements, wait, storage, onPool: metrics?.watchPool });
  opened.defer(() => db.close());
  const replica = await openReplica(config, db, log, opened);
  if (replica) metrics?.watchReplica(replica);
  if (storage) metrics?.watchStorage(storage);
  metrics?.watchQueues(db.em);
  if (config.metrics && metrics) opened.defer(await metrics.serve(config.metrics));
  await connectEventSignals(config, db, log, opened);
  const keys = deriveKeys(config.secret ?? (await keptSecret(config.dataDirectory)));
  const providers = new Map(await openPaymentProviders(config.payments));
  const mailServer = await transportOf(config, log);
  const transport = mailServer && new ReplaceableTransport(mailServer);
  opened.use(reloadSecretsOnHangup(config, { transport, providers }, log));
  const [lastUse, monthlyUse] = [new LastUse(), new MonthlyUse()];
  opened.defer(async () => {
    if (!storage?.isLow()) await Promise.all([lastUse.write(db.em.fork()), monthlyUse.write(db.em.fork())]);
  });
  return { config, log, db, storage, readList: replica?.read, metrics, keys, providers, transport, lastUse, monthlyUse };
}

/** Connects event notifications between processes. An embedded database has one process; a `web` process notifies the workers. */
async function connectEventSignals(
  { role, databaseUrl, directDatabaseUrl }: Config,
  { em }: Database,
  log: Log,
  opened: AsyncDisposableStack,
) {
  if (!isPostgresql(databaseUrl)) return;
  if (role === 'web') forwardOwnWrites(em, log);
  opened.use(await listenForEvents(em, directDatabaseUrl ?? databaseUrl, log));
}

/** Opens the read replica; the server starts even if the replica is unreachable. */
async function openReplica(config: Config, db: Database, log: Log, opened: AsyncDisposableStack): Promise<Replica | undefined> {
  if (config.replicaUrl === undefined || config.role === 'worker') return undefined;
  const replica = await openDatabase(config.replicaUrl, { preparedStatements: config.preparedStatements });
  opened.defer(() => replica.close());
  return new Replica(db, replica, log);
}
