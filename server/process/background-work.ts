import { type Background, startBackground } from '../background.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/orm.ts';
import { eventJobs } from '../events/jobs.ts';
import type { Log } from '../log.ts';
import type { MailTransport } from '../mail/deliver-mail.ts';
import { logTransport } from '../mail/log-transport.ts';
import { smtpTransport } from '../mail/smtp-transport.ts';
import { paymentJobs } from '../payments/jobs.ts';
import type { PaymentProviders } from '../payments/provider.ts';
import type { SecretKeys } from '../secret-keys.ts';
import { taskKinds } from '../task-kinds.ts';
import { taskJobs } from '../tasks/jobs.ts';
import { type UpkeepParts, upkeepJobs } from '../upkeep.ts';
import { Deliverer } from '../webhooks/deliverer.ts';
import { fanOut } from '../webhooks/fan-out.ts';
import { webhookJobs } from '../webhooks/jobs.ts';
import { internet } from '../webhooks/send.ts';

export type BackgroundParts = {
  readonly config: Config;
  readonly db: Database;
  readonly log: Log;
  readonly keys: SecretKeys;
  readonly providers: PaymentProviders;
} & Pick<UpkeepParts, 'transport' | 'lastUse' | 'monthlyUse'>;

/** Everything that goes on without anybody asking. */
export function startBackgroundWork(parts: BackgroundParts): Background {
  const { db, log, keys, providers, transport, lastUse, monthlyUse } = parts;
  const deliverer = delivererOf(parts);
  const jobs = [
    ...paymentJobs(db, providers),
    ...eventJobs(db, fanOut, () => deliverer.run()),
    ...webhookJobs(db, deliverer),
    ...taskJobs({ em: db.em, log, kinds: taskKinds }),
    ...upkeepJobs({ db, log, lastUse, monthlyUse, transport, mailKey: keys.mail }),
  ];
  const background = startBackground(jobs, log);
  return {
    wake: () => background.wake(),
    stop: async () => void (await Promise.all([deliverer.stop(), background.stop()])),
  };
}

function delivererOf({ config: { production }, db: { em }, log, keys, transport }: BackgroundParts): Deliverer {
  const notice = { mailKey: keys.mail, canMail: transport !== undefined };
  return new Deliverer({ em, log, key: keys.webhooks, network: internet(!production), notice });
}

/** In production without a mail server people cannot sign up or choose a new password, and are told so. */
export async function transportOf({ mail, production }: Config, log: Log): Promise<MailTransport | undefined> {
  if (mail) return smtpTransport(mail.smtpUrl, mail.from);
  if (!production) return logTransport(log);
  log.warn('e-mail cannot be sent: set MANDATE_SMTP_URL and MANDATE_MAIL_FROM, or nobody can sign up');
  return undefined;
}
