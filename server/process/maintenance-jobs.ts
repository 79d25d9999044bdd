import type { ApiKeyUseBuffer } from '../api-keys/api-key-use-buffer.ts';
import { deleteUnusedApplicationsBatch } from '../access-management/delete-unused-applications.ts';
import type { Job } from '../jobs/job-runner.ts';
import { readDatabaseTime } from '../database/time/database-clock.ts';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager.ts';
import { deleteExpiredIdempotencyKeys } from '../http/writes/idempotency.ts';
import type { Log } from '../logging/logger.ts';
import { deliverMail, type MailTransport } from '../mail/deliver-mail.ts';
import { deleteExpiredAttempts } from '../oauth/brute-force/attempt-limits.ts';
import { deleteExpiredEmailLinks } from '../oauth/accounts/email-links.ts';
import { deleteExpiredChallenges } from '../oauth/second-factors/passkeys.ts';
import { deleteExpiredRecords } from '../oauth/storage/delete-expired-records.ts';
import { deleteOrphanedRows } from '../oauth/grants/delete-orphaned-rows.ts';
import type { MonthlyUsageBuffer } from '../usage/usage-buffer.ts';

export type MaintenanceJobOptions = {
  readonly db: Database;
  readonly log: Log;
  readonly transport: MailTransport | undefined;
  readonly mailKey: Buffer;
};

const secondMs = 1_000;

/** Creates the maintenance jobs. They run in every `all` and `worker` process; locks in the database prevent duplicate work. */
export const createMaintenanceJobs = ({ db, log, transport, mailKey }: MaintenanceJobOptions): Job[] => [
  { name: 'mail', everyMs: secondMs, run: async () => transport && deliverMail(db.em.fork(), new Date(), transport, mailKey, log) },
  { name: 'expired tokens', everyMs: 60 * secondMs, run: (signal) => repeatUntilEmpty(db, signal, deleteExpiredRecords) },
  { name: 'unused applications', everyMs: 600 * secondMs, run: (signal) => repeatUntilEmpty(db, signal, deleteUnusedApplicationsBatch) },
  {
    name: 'expired idempotency keys',
    everyMs: 600 * secondMs,
    run: (signal) => repeatUntilEmpty(db, signal, deleteExpiredIdempotencyKeys),
  },
  {
    name: 'orphaned rows',
    everyMs: 3600 * secondMs,
    run: async () => deleteOrphanedRows(db.em.fork(), await readDatabaseTime(db.em.fork())),
  },
  { name: 'expired attempts, links and challenges', everyMs: 600 * secondMs, run: () => deleteExpiredAuthRows(db) },
];

/** Buffers of a process that serves requests. */
export type UsageBuffers = { readonly db: Database; readonly lastUse: ApiKeyUseBuffer; readonly monthlyUse: MonthlyUsageBuffer };

export const createUsageFlushJobs = ({ db, lastUse, monthlyUse }: UsageBuffers): Job[] => [
  { name: 'last use of API keys', everyMs: 30 * secondMs, run: () => lastUse.flush(db.em.fork()) },
  { name: 'monthly usage', everyMs: 5 * secondMs, run: () => monthlyUse.flush(db.em.fork()) },
];

/** Repeats a deletion until nothing is left, because a busy minute can leave more than one batch. */
async function repeatUntilEmpty(
  db: Database,
  signal: AbortSignal,
  deleteExpired: (em: EntityManager, now: Date) => Promise<number>,
): Promise<void> {
  const now = await readDatabaseTime(db.em.fork());
  while (!signal.aborted && (await deleteExpired(db.em.fork(), now)) > 0);
}

async function deleteExpiredAuthRows(db: Database): Promise<void> {
  const [em, now] = [db.em.fork(), await readDatabaseTime(db.em.fork())];
  for (const deleteExpired of [deleteExpiredAttempts, deleteExpiredEmailLinks, deleteExpiredChallenges]) await deleteExpired(em, now);
}
