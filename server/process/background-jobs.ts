import { type Background, type Job, startBackground } from '../jobs/job-runner.ts';
import type { Config } from '../config/config.ts';
import { eventJobs } from '../events/jobs.ts';
import { limitWalJob } from '../database/embedded/limit-wal-size.ts';
import type { Log } from '../logging/logger.ts';
import type { MailTransport } from '../mail/deliver-mail.ts';
import { logTransport } from '../mail/log-transport.ts';
import { smtpTransport } from '../mail/smtp-transport.ts';
import { paymentJobs } from '../order-lifecycle/order-lifecycle-jobs.ts';
import { taskKinds } from '../app/task-handlers.ts';
import { taskJobs } from '../tasks/jobs.ts';
import { countingJobs, upkeepJobs } from './maintenance-jobs.ts';
import { Deliverer } from '../webhooks/delivery/delivery-worker.ts';
import { fanOut } from '../webhooks/delivery/fan-out.ts';
import { webhookJobs } from '../webhooks/delivery/webhook-jobs.ts';
import { internet } from '../outgoing-http/protected-client.ts';
import type { ProcessParts } from './process-dependencies.ts';

/** Starts the background jobs of the process role. A `web` process only flushes its own counters. */
export function startBackgroundWork(parts: ProcessParts): Background {
  const { log, storage } = parts;
  const isPaused = (): boolean => storage?.isLow() ?? false;
  const counterJobs = parts.config.role === 'worker' ? [] : countingJobs(parts);
  if (parts.config.role === 'web') return startBackground(counterJobs, log, isPaused);
  const deliverer = createDeliverer(parts);
  const background = startBackground([...createJobs(parts, deliverer), ...counterJobs], log, isPaused);
  return {
    wake: () => background.wake(),
    stop: async () => void (await Promise.all([deliverer.stop(), background.stop()])),
  };
}

const createJobs = ({ db, storage, log, keys, providers, transport }: ProcessParts, deliverer: Deliverer): Job[] => [
  ...paymentJobs(db, providers),
  ...eventJobs(db, fanOut),
  ...webhookJobs(db, deliverer),
  ...taskJobs({ em: db.em, log, kinds: taskKinds }),
  ...(storage ? [limitWalJob(db)] : []),
  ...upkeepJobs({ db, log, transport, mailKey: keys.mail }),
];

function createDeliverer({ config: { production }, db: { em }, log, keys, transport }: ProcessParts): Deliverer {
  const notifications = { mailKey: keys.mail, canMail: transport !== undefined };
  return new Deliverer({ em, log, key: keys.webhooks, network: internet(!production), notice: notifications });
}

/** Creates the mail transport. Without one in production, users cannot sign up or reset passwords, and the pages say so. */
export async function transportOf({ mail, production }: Config, log: Log): Promise<MailTransport | undefined> {
  if (mail) return smtpTransport(mail.smtpUrl, mail.from);
  if (!production) return logTransport(log);
  log.warn('e-mail cannot be sent: set MANDATE_SMTP_URL and MANDATE_MAIL_FROM, otherwise users cannot sign up');
  return undefined;
}
