import { serveEmbeddedDatabaseCopies } from '../backup/serve-embedded-database-copies.ts';
import type { Config } from '../config/read-config.ts';
import { migrateAndOpenDatabase } from '../schema/migrate-and-open-database.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import { isPostgresqlUrl } from '../database/connection/is-postgresql-url.ts';
import { openDatabaseWithoutMigrating } from '../schema/open-database-without-migrating.ts';
import { ReplicaWithPrimaryFallback } from '../database/replica/replica-with-primary-fallback.ts';
import { DiskSpaceMonitor } from '../database/storage/disk-space-monitor.ts';
import {
  startNotifyingOtherProcessesOfLocalWrites,
  startReceivingSignalsOfOtherProcesses,
} from '../events/signal-events-between-processes.ts';
import { ApiKeyLastUseBuffer } from '../api-keys/api-key-last-use-buffer.ts';
import type { Log } from '../logging/logger.ts';
import { createPaymentProviders } from '../payments/providers/create-payment-providers.ts';
import { RequestActivityMonitor } from '../http/server/request-activity-monitor.ts';
import { startBackgroundJobs, createMailTransport } from './background-jobs-and-mail-transport.ts';
import type { CleanupStack } from './cleanup-stack.ts';
import type { Shutdown } from './graceful-shutdown.ts';
import { limitHeapGrowthBetweenCollections } from './limit-heap-growth.ts';
import type { ProcessDependencies } from './process-dependencies.ts';
import { reloadMailAndStripeSettingsOnSighup, ReplaceableMailTransport } from './reload-mail-and-stripe-on-sighup.ts';
import { isSupervised } from './supervisor/connect-to-supervisor.ts';
import { startEventLoopWatchdog } from './watchdog.ts';
import { startHealthServer, startWebServerAfterFirstRunSetup } from './start-web-and-health-server.ts';
import { deriveKeys, loadOrCreateServerSecret } from '../crypto/derived-keys-and-server-secret.ts';
import { MonthlyUsageBuffer } from '../usage/monthly-usage-buffer.ts';

/**
 * Starts everything that the process role requires. Disposing of `opened` stops everything that was started.
 * @returns the welcome message, which is empty in production
 */
export async function startServicesOfProcessRole(config: Config, log: Log, opened: CleanupStack, shutdown: Shutdown): Promise<string> {
  const dependencies = { ...(await openDependencies(config, log, opened)), shutdown };
  limitHeapGrowthBetweenCollections();
  // The watchdog starts only now, because a migration statement or the recovery of an embedded database can exceed the watchdog's time
  // limit.
  startEventLoopWatchdog(config.watchdogSeconds, config.production, log);
  if (config.production && config.payments.test) log.warn('orders can be paid with test tokens: MANDATE_TEST_PAYMENTS is on');
  const background = startBackgroundJobs(dependencies);
  opened.defer(() => background.stop());
  opened.defer(await serveEmbeddedDatabaseCopies(dependencies.db, config.databaseUrl, log));
  const welcome =
    config.role === 'worker'
      ? await startHealthServer(dependencies, opened)
      : await startWebServerAfterFirstRunSetup(dependencies, () => background.wake(), opened);
  // `background.stop` is deferred a second time. This call runs first, so that background jobs stop while the last requests are still being
  // finished.
  opened.defer(async () => void background.stop());
  return welcome;
}

/**
 * Opens the dependencies that all roles share. `opened` closes everything in reverse order, so that consumers stop before their
 * dependencies.
 */
async function openDependencies(config: Config, log: Log, opened: CleanupStack): Promise<Omit<ProcessDependencies, 'shutdown'>> {
  // this module is loaded only if metrics are enabled
  const metrics = config.metrics && new (await import('../metrics/prometheus-metrics.ts')).PrometheusMetrics(log);
  const { directDatabaseUrl: directUrl, preparedStatements, databaseStartTimeoutSeconds: seconds } = config;
  const wait = { seconds, log };
  const storage = isPostgresqlUrl(config.databaseUrl) ? undefined : new DiskSpaceMonitor(config.databaseUrl, log);
  const opening = { directUrl, preparedStatements, wait, storage, ...metrics?.database };
  const db = await migrateAndOpenDatabase(config.databaseUrl, opening);
  opened.defer(() => db.close());
  const replica = await openReplica(config, db, log, opened);
  if (replica) metrics?.watchReplica(replica);
  if (storage) metrics?.watchStorage(storage);
  metrics?.watchQueues(db.em);
  if (config.metrics && metrics) opened.defer(isSupervised(config) ? metrics.sendToSupervisor() : await metrics.serve(config.metrics));
  await connectEventSignals(config, db, log, opened);
  const keys = deriveKeys(config.secret ?? (await loadOrCreateServerSecret(config.dataDirectory)));
  const providers = new Map(await createPaymentProviders(config.payments));
  const mailServer = await createMailTransport(config, log);
  const transport = mailServer && new ReplaceableMailTransport(mailServer);
  opened.use(reloadMailAndStripeSettingsOnSighup(config, { transport, providers }, log));
  const [lastUse, monthlyUse] = [new ApiKeyLastUseBuffer(), new MonthlyUsageBuffer()];
  opened.defer(async () => {
    if (!storage?.isLow()) await Promise.all([lastUse.flush(db.em.fork()), monthlyUse.flush(db.em.fork())]);
  });
  return {
    config,
    log,
    db,
    storage,
    readList: replica?.read,
    metrics,
    keys,
    providers,
    transport,
    lastUse,
    monthlyUse,
    requests: new RequestActivityMonitor(),
  };
}

/**
 * Connects event notifications between processes. An embedded database needs no such connection, because only one process can use the
 * database. With PostgreSQL, a `web` process notifies the workers.
 */
async function connectEventSignals({ role, databaseUrl, directDatabaseUrl }: Config, { em }: Database, log: Log, opened: CleanupStack) {
  if (!isPostgresqlUrl(databaseUrl)) return;
  if (role === 'web') startNotifyingOtherProcessesOfLocalWrites(em, log);
  opened.use(await startReceivingSignalsOfOtherProcesses(em, directDatabaseUrl ?? databaseUrl, log));
}

/** Opens the read replica; the server starts even if the replica is unreachable. */
async function openReplica(config: Config, db: Database, log: Log, opened: CleanupStack): Promise<ReplicaWithPrimaryFallback | undefined> {
  if (config.replicaUrl === undefined || config.role === 'worker') return undefined;
  const replica = await openDatabaseWithoutMigrating(config.replicaUrl, { preparedStatements: config.preparedStatements });
  opened.defer(() => replica.close());
  return new ReplicaWithPrimaryFallback(db, replica, log);
}
