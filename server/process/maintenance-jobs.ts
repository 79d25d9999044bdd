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

const second = 1_000;

/** What has to be done now and then for those who sign in. Every process that works in the background does it; the database sees to it that each thing is done once. */
export const upkeepJobs = ({ db, log, transport, mailKey }: UpkeepParts): Job[] => [
  { name: 'mail', everyMs: second, run: async () => transport && deliverMail(db.em.fork(), new Date(), transport, mailKey, log) },
  { name: 'expired tokens', everyMs: 60 * second, run: (signal) => batchAfterBatch(db, signal, sweepOauthRecords) },
  { name: 'unused applications', everyMs: 600 * second, run: (signal) => batchAfterBatch(db, signal, removeUnusedApplications) },
  { name: 'answers to repeated requests', everyMs: 600 * second, run: (signal) => batchAfterBatch(db, signal, sweepIdempotencyKeys) },
  { name: 'traces of what is over', everyMs: 3600 * second, run: async () => sweepTraces(db.em.fork(), await databaseTime(db.em.fork())) },
  { name: 'old attempts, links and challenges', everyMs: 600 * second, run: () => sweepSmallThings(db) },
];

/** What a process that answers requests has counted itself. */
export type Counted = { readonly db: Database; readonly lastUse: LastUse; readonly monthlyUse: MonthlyUse };

export const countingJobs = ({ db, lastUse, monthlyUse }: Counted): Job[] => [
  { name: 'last use of keys', everyMs: 30 * second, run: () => lastUse.write(db.em.fork()) },
  { name: 'use of the month', everyMs: 5 * second, run: () => monthlyUse.write(db.em.fork()) },
];

/** A busy minute leaves more than one batch behind. */
async function batchAfterBatch(db: Database, signal: AbortSignal, sweep: (em: Em, now: Date) => Promise<number>): Promise<void> {
  const now = await databaseTime(db.em.fork());
  while (!signal.aborted && (await sweep(db.em.fork(), now)) > 0);
}

async function sweepSmallThings(db: Database): Promise<void> {
  const [em, now] = [db.em.fork(), await databaseTime(db.em.fork())];
  for (const sweep of [sweepAttempts, sweepMailedLinks, sweepChallenges]) await sweep(em, now);
}
