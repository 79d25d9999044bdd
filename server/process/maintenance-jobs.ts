import type { LastUse } from '../api-keys/api-key-use-buffer.ts';
import { removeUnusedApplications } from '../access-management/remove-unused-applications.ts';
import type { Job } from '../jobs/job-runner.ts';
import { databaseTime } from '../database/time/database-clock.ts';
import type { Database, Em } from '../database/entity-manager/entity-manager.ts';
import { sweepIdempotencyKeys } from '../http/writes/idempotency.ts';
import type { Log } from '../logging/logger.ts';
import { deliverMail, type MailTransport } from '../mail/deliver-mail.ts';
import { sweepAttempts } from '../oauth/brute-force/attempt-limits.ts';
import { sweepMailedLinks } from '../oauth/accounts/email-links.ts';
import { sweepChallenges } from '../oauth/second-factors/passkeys.ts';
import { sweepOauthRecords } from '../oauth/storage/delete-expired-records.ts';
import { sweepTraces } from '../oauth/grants/delete-orphaned-rows.ts';
import type { MonthlyUse } from '../usage/usage-buffer.ts';

export type UpkeepParts = {
  readonly db: Database;
  readonly log: Log;
  readonly transport: MailTransport | undefined;
  readonly mailKey: Buffer;
};

const secondMs = 1_000;

/** Creates the maintenance jobs. They run in every `all` and `worker` process; locks in the database prevent duplicate work. */
export const upkeepJobs = ({ db, log, transport, mailKey }: UpkeepParts): Job[] => [
  { name: 'mail', everyMs: secondMs, run: async () => transport && deliverMail(db.em.fork(), new Date(), transport, mailKey, log) },
  { name: 'expired tokens', everyMs: 60 * secondMs, run: (signal) => repeatUntilEmpty(db, signal, sweepOauthRecords) },
  { name: 'unused applications', everyMs: 600 * secondMs, run: (signal) => repeatUntilEmpty(db, signal, removeUnusedApplications) },
  { name: 'expired idempotency keys', everyMs: 600 * secondMs, run: (signal) => repeatUntilEmpty(db, signal, sweepIdempotencyKeys) },
  {
    name: 'orphaned rows',
    everyMs: 3600 * secondMs,
    run: async () => sweepTraces(db.em.fork(), await databaseTime(db.em.fork())),
  },
  { name: 'expired attempts, links and challenges', everyMs: 600 * secondMs, run: () => deleteExpiredAuthRows(db) },
];

/** Buffers of a process that serves requests. */
export type Counted = { readonly db: Database; readonly lastUse: LastUse; readonly monthlyUse: MonthlyUse };

export const countingJobs = ({ db, lastUse, monthlyUse }: Counted): Job[] => [
  { name: 'last use of API keys', everyMs: 30 * secondMs, run: () => lastUse.write(db.em.fork()) },
  { name: 'monthly usage', everyMs: 5 * secondMs, run: () => monthlyUse.write(db.em.fork()) },
];

/** Repeats a deletion until nothing is left, because a busy minute can leave more than one batch. */
async function repeatUntilEmpty(db: Database, signal: AbortSignal, deleteExpired: (em: Em, now: Date) => Promise<number>): Promise<void> {
  const now = await databaseTime(db.em.fork());
  while (!signal.aborted && (await deleteExpired(db.em.fork(), now)) > 0);
}

async function deleteExpiredAuthRows(db: Database): Promise<void> {
  const [em, now] = [db.em.fork(), await databaseTime(db.em.fork())];
  for (const deleteExpired of [sweepAttempts, sweepMailedLinks, sweepChallenges]) await deleteExpired(em, now);
}
