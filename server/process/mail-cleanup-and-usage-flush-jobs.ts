import type { ApiKeyLastUseBuffer } from '../api-keys/api-key-last-use-buffer.ts';
import { deleteUnusedSelfRegisteredAppsBatch } from '../access-management/delete-unused-self-registered-apps.ts';
import type { Job } from '../jobs/job-runner.ts';
import { repeatBatchUntilZero } from '../jobs/repeat-batch-until-zero.ts';
import { readDatabaseTime } from '../database/time/read-database-time.sql.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import type { DeleteExpiredRows } from '../database/queries/prepare-batch-deletion-of-expired-rows.ts';
import { deleteExpiredIdempotencyKeysBatch } from '../http/writes/stored-idempotent-requests.ts';
import type { Log } from '../logging/logger.ts';
import { deliverQueuedMail, type MailTransport } from '../mail/deliver-queued-mail.ts';
import {
  deleteExpiredAttemptCountersBatch,
  deleteExpiredSingleUseIdentifiersBatch,
  deleteExpiredEmailedLinksBatch,
  deleteExpiredOauthRecordsBatch,
  deleteOrphanedGrantRowsAndSessionsBatch,
} from '../oauth/storage/delete-expired-and-orphaned-oauth-rows.sql.ts';
import { deleteOldUnorderedQuotesBatch } from '../quotes/record-and-delete-expired-quotes.ts';
import type { MonthlyUsageBuffer } from '../usage/monthly-usage-buffer.ts';

export type MaintenanceJobOptions = {
  readonly db: Database;
  readonly log: Log;
  readonly transport: MailTransport | undefined;
  readonly mailKey: Buffer;
};

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/** Jobs that delete expired rows, with their intervals. Other jobs delete events and task data, which have different retention rules. */
const expirations: readonly { readonly name: string; readonly everyMs: number; readonly deletions: readonly DeleteExpiredRows[] }[] = [
  { name: 'expired tokens', everyMs: minuteMs, deletions: [deleteExpiredOauthRecordsBatch] },
  { name: 'unused applications', everyMs: 10 * minuteMs, deletions: [deleteUnusedSelfRegisteredAppsBatch] },
  { name: 'expired idempotency keys', everyMs: 10 * minuteMs, deletions: [deleteExpiredIdempotencyKeysBatch] },
  { name: 'old quotes', everyMs: 60 * minuteMs, deletions: [deleteOldUnorderedQuotesBatch] },
  { name: 'orphaned rows', everyMs: 60 * minuteMs, deletions: [deleteOrphanedGrantRowsAndSessionsBatch] },
  {
    name: 'expired attempts, links and challenges',
    everyMs: 10 * minuteMs,
    deletions: [deleteExpiredAttemptCountersBatch, deleteExpiredEmailedLinksBatch, deleteExpiredSingleUseIdentifiersBatch],
  },
];

/** Creates the maintenance jobs. The jobs run in every `all` and `worker` process; locks in the database prevent duplicate work. */
export const createMailAndCleanupJobs = ({ db, log, transport, mailKey }: MaintenanceJobOptions): Job[] => [
  { name: 'mail', everyMs: secondMs, run: async () => transport && deliverQueuedMail(db.em.fork(), new Date(), transport, mailKey, log) },
  ...expirations.map(({ name, everyMs, deletions }) => ({
    name,
    everyMs,
    run: (signal: AbortSignal) => runDeletions(db, signal, deletions),
  })),
];

/** Buffers that a process has only if it serves requests. */
export type UsageBuffers = { readonly db: Database; readonly lastUse: ApiKeyLastUseBuffer; readonly monthlyUse: MonthlyUsageBuffer };

export const createUsageFlushJobs = ({ db, lastUse, monthlyUse }: UsageBuffers): Job[] => [
  { name: 'last use of API keys', everyMs: 30 * secondMs, run: () => lastUse.flush(db.em.fork()) },
  { name: 'monthly usage', everyMs: 5 * secondMs, run: () => monthlyUse.flush(db.em.fork()) },
];

async function runDeletions(db: Database, signal: AbortSignal, deletions: readonly DeleteExpiredRows[]): Promise<void> {
  const now = await readDatabaseTime(db.em.fork());
  for (const deleteBatch of deletions) await repeatBatchUntilZero(signal, () => deleteBatch(db.em.fork(), now));
}
