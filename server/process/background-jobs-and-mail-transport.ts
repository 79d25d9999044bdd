import { createBackupTaskHandlers } from '../backup/backup-task-handlers.ts';
import { openExistingDatabaseOrCopy } from '../backup/open-existing-database-or-copy.ts';
import { createBackupFileSyncAndCleanupJob } from '../backup/sync-backup-file-rows-with-directory.ts';
import { type JobRunner, type Job, startJobs } from '../jobs/job-runner.ts';
import type { Config } from '../config/read-config.ts';
import { createEventSequencingAndCleanupJobs } from '../events/event-sequencing-and-cleanup-jobs.ts';
import { createWalLimitingCheckpointJob } from '../database/embedded/limit-wal-size.ts';
import type { Log } from '../logging/logger.ts';
import type { MailTransport } from '../mail/deliver-queued-mail.ts';
import { createMailLogTransport } from '../mail/mail-log-transport.ts';
import { createSmtpTransport } from '../mail/smtp-transport.ts';
import { createPaymentRefundAndExpiryJobs } from '../order-lifecycle/payment-refund-and-expiry-jobs.ts';
import { taskHandlersByType } from '../app/task-handlers.ts';
import type { TaskRunnerDependencies } from '../tasks/run-queued-tasks.ts';
import { createTaskRunnerAndCleanupJobs } from '../tasks/task-runner-and-cleanup-jobs.ts';
import { createUsageFlushJobs, createMailAndCleanupJobs } from './mail-cleanup-and-usage-flush-jobs.ts';
import { DeliveryWorker } from '../webhooks/delivery/delivery-worker.ts';
import { createWebhookDeliveriesForEvents } from '../webhooks/delivery/create-webhook-deliveries.ts';
import { createWebhookDeliveryJobs } from '../webhooks/delivery/webhook-delivery-jobs.ts';
import { createLogoutTokenSendingJob } from '../oauth/back-channel-logout/logout-token-sending-job.ts';
import { LogoutTokenSender } from '../oauth/back-channel-logout/send-logout-tokens.ts';
import { createPublicAddressesOnlyNetworkPolicy } from '../outgoing-http/ssrf-protected-connection.ts';
import { createOrderStatisticsUpdateJob } from '../statistics/order-statistics-update-job.ts';
import type { ProcessDependencies } from './process-dependencies.ts';

/** Starts the background jobs for the process role. A `web` process only flushes its own counters. */
export function startBackgroundJobs(parts: ProcessDependencies): JobRunner {
  const { log, storage } = parts;
  const isPaused = (): boolean => storage?.isLow() ?? false;
  const counterJobs = parts.config.role === 'worker' ? [] : createUsageFlushJobs(parts);
  if (parts.config.role === 'web') return startJobs(counterJobs, log, isPaused);
  const deliverer = createDeliverer(parts);
  const background = startJobs([...createJobs(parts, deliverer), ...counterJobs], log, isPaused);
  return {
    wake: () => background.wake(),
    stop: async () => void (await Promise.all([deliverer.stop(), background.stop()])),
  };
}

const createJobs = (parts: ProcessDependencies, deliverer: DeliveryWorker): Job[] => {
  const { db, storage, log, keys, providers, transport, requests } = parts;
  return [
    ...createPaymentRefundAndExpiryJobs(db, providers),
    ...createEventSequencingAndCleanupJobs(db, createWebhookDeliveriesForEvents),
    ...createWebhookDeliveryJobs(db, deliverer),
    ...createOrderStatisticsUpdateJob(db),
    ...createTaskRunnerAndCleanupJobs({
      em: db.em,
      log,
      handlers: { ...taskHandlersByType, ...createBackupHandlers(parts) },
      isProcessingRequests: () => requests.areInProgress,
    }),
    ...createBackupJobs(parts),
    ...(storage ? [createWalLimitingCheckpointJob(db)] : []),
    ...createMailAndCleanupJobs({ db, log, transport, mailKey: keys.mail }),
    createLogoutTokenSendingJob(createLogoutTokenSender(parts)),
  ];
};

/** Returns the handlers for backup tasks. If this process has no backup directory, it leaves backup tasks to other processes. */
function createBackupHandlers({ config, keys }: ProcessDependencies): TaskRunnerDependencies['handlers'] {
  const { backupDirectory: path, databaseUrl, directDatabaseUrl } = config;
  if (path === undefined) return {};
  const openSource = () => openExistingDatabaseOrCopy(directDatabaseUrl ?? databaseUrl, config);
  return createBackupTaskHandlers({ path, key: keys.backups, openSource });
}

const createBackupJobs = ({ config: { backupDirectory: path, backupsKept: keep }, db, keys, log }: ProcessDependencies): Job[] =>
  path === undefined ? [] : [createBackupFileSyncAndCleanupJob(db.em, { path, key: keys.backups, keep, log })];

const createLogoutTokenSender = ({ config: { production, issuer }, db: { em }, log, keys }: ProcessDependencies): LogoutTokenSender =>
  new LogoutTokenSender({
    em,
    issuer,
    log,
    network: createPublicAddressesOnlyNetworkPolicy(!production),
    signingKeyEncryptionKey: keys.signingKeys,
  });

function createDeliverer({ config: { production, issuer }, db: { em }, log, keys, transport }: ProcessDependencies): DeliveryWorker {
  const notifications = { mailKey: keys.mail, issuer, canMail: transport !== undefined };
  return new DeliveryWorker({
    em,
    log,
    key: keys.webhooks,
    network: createPublicAddressesOnlyNetworkPolicy(!production),
    notice: notifications,
  });
}

/** Creates the mail transport. Without a transport in production, users cannot sign up or reset passwords, and the pages say so. */
export async function createMailTransport({ mail, production }: Config, log: Log): Promise<MailTransport | undefined> {
  if (mail) return createSmtpTransport(mail.smtpUrl, mail.from);
  if (!production) return createMailLogTransport(log);
  log.warn('e-mail cannot be sent: set MANDATE_SMTP_URL and MANDATE_MAIL_FROM, otherwise users cannot sign up');
  return undefined;
}
