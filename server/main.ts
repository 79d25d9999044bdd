import { once } from 'node:events';
import type { Server } from 'node:http';
import { LastUse } from './api-keys/last-use.ts';
import { type AppParts, createApp } from './app.ts';
import { startBackground } from './background.ts';
import { ConfigurationError, readConfig, type Config } from './config.ts';
import { openMigratedDatabase } from './database/migrate.ts';
import { DataDirectoryInUseError } from './database/data-directory-lock.ts';
import type { Database } from './database/orm.ts';
import { eventJobs } from './events/jobs.ts';
import { NewEvents } from './events/new-events.ts';
import { greeting } from './first-run/greeting.ts';
import { firstRunPath, readFirstRunFile } from './first-run/first-run-file.ts';
import { prepareInstallation } from './first-run/prepare-installation.ts';
import { health } from './http/health.ts';
import { httpServer } from './http/http-server.ts';
import { createLog, type Log } from './log.ts';
import { logTransport } from './mail/log-transport.ts';
import type { MailTransport } from './mail/deliver-mail.ts';
import { smtpTransport } from './mail/smtp-transport.ts';
import { paymentJobs } from './payments/jobs.ts';
import { openPaymentProviders } from './payments/open-providers.ts';
import { openSharedCounters } from './rate-limits/shared-counters.ts';
import { deriveKeys, keptSecret, type SecretKeys } from './secret-keys.ts';
import { taskKinds } from './task-kinds.ts';
import { taskJobs } from './tasks/jobs.ts';
import { MonthlyUse } from './usage/monthly-use.ts';
import { upkeepJobs } from './upkeep.ts';
import { Deliverer } from './webhooks/deliverer.ts';
import { fanOut } from './webhooks/fan-out.ts';
import { webhookJobs } from './webhooks/jobs.ts';
import { internet } from './webhooks/send.ts';

/** Requests that are still running this long after the signal are given up. */
const graceMs = 10_000;

async function start(config: Config, log: Log): Promise<void> {
  const db = await openMigratedDatabase(config.databaseUrl);
  try {
    const keys = deriveKeys(config.secret ?? (await keptSecret(config.dataDirectory)));
    const [providers, transport] = [await openPaymentProviders(config.payments), await transportOf(config, log)];
    const [lastUse, monthlyUse] = [new LastUse(), new MonthlyUse()];
    const sharedCounters = config.redisUrl === undefined ? undefined : openSharedCounters(config.redisUrl, config.issuer, log);
    if (config.production && config.payments.test) log.warn('orders can be paid without money: MANDATE_TEST_PAYMENTS is on');
    const deliverer = delivererOf(config, db, log, keys, transport !== undefined);
    const jobs = [
      ...paymentJobs(db, providers),
      ...eventJobs(db, fanOut, () => deliverer.run()),
      ...webhookJobs(db, deliverer),
      ...taskJobs({ em: db.em, log, kinds: taskKinds }),
      ...upkeepJobs({ db, log, lastUse, monthlyUse, transport, mailKey: keys.mail }),
    ];
    const background = startBackground(jobs, log);
    const { issuer, taxMode, trustProxy, rateLimits, previewVersions } = config;
    const counted = { rateLimits, sharedCounters, lastUse, monthlyUse };
    const wake = (): void => background.wake();
    const canMail = transport !== undefined;
    const newEvents = new NewEvents(db.em);
    const shown = { issuer, trustProxy, previewVersions, canMail, development: !config.production };
    const parts = { db, keys, log, taxMode, providers, wake, newEvents, ...shown, ...counted };
    const server = await serve(config, parts).catch(async (error: unknown) => {
      await background.stop();
      throw error;
    });
    const finish = (): Promise<unknown> => {
      newEvents.stop(); // whoever waits for an event would hold up the end
      return Promise.all([finishRequests(server), deliverer.stop(), background.stop()]);
    };
    const write = (): Promise<unknown> => Promise.all([lastUse.write(db.em.fork()), monthlyUse.write(db.em.fork())]);
    stopOnSignal([finish, write, async () => sharedCounters?.close(), () => db.close()], log);
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function serve(config: Config, parts: AppParts): Promise<Server> {
  const { db, log } = parts;
  const app = await createApp(parts);
  const outcome = await prepareInstallation(db, config, new Date());
  if (outcome === 'without administrator')
    log.warn('there is no administrator yet: set MANDATE_ADMIN_EMAIL and MANDATE_ADMIN_PASSWORD for one start');
  const file = config.production ? undefined : await readFirstRunFile(db.em.fork(), config.dataDirectory);
  const server = httpServer(app, { issuer: config.issuer, log, health: health(db), load: { atOnce: config.concurrency } });
  server.listen(config.http);
  await once(server, 'listening');
  log.info({ ...config.http, issuer: config.issuer }, 'listening');
  if (!config.production) process.stdout.write(greeting(config.issuer, file, firstRunPath(config.dataDirectory)));
  return server;
}

function delivererOf({ production }: Config, { em }: Database, log: Log, keys: SecretKeys, canMail: boolean): Deliverer {
  const notice = { mailKey: keys.mail, canMail };
  return new Deliverer({ em, log, key: keys.webhooks, network: internet(!production), notice });
}

/** In production without a mail server people cannot sign up or choose a new password, and are told so. */
async function transportOf({ mail, production }: Config, log: Log): Promise<MailTransport | undefined> {
  if (mail) return smtpTransport(mail.smtpUrl, mail.from);
  if (!production) return logTransport(log);
  log.warn('e-mail cannot be sent: set MANDATE_SMTP_URL and MANDATE_MAIL_FROM, or nobody can sign up');
  return undefined;
}

/** What has begun is finished, then the database is closed; a second signal does not wait. */
function stopOnSignal(closing: readonly (() => Promise<unknown>)[], log: Log): void {
  let stopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    for (const close of closing) await close();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, (received) => void stop(received));
}

async function finishRequests(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // closing the server leaves open connections alone, and over one of them requests could go on for ever
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
  const leave = setInterval(() => server.closeIdleConnections(), 100);
  const giveUp = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(leave);
  clearTimeout(giveUp);
}

/** What somebody can put right is said in a sentence, everything else with all there is to know. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : undefined;
  if (error instanceof ConfigurationError || error instanceof DataDirectoryInUseError || code) return error.message || `${code}`;
  return error.stack ?? error.message;
}

try {
  const config = readConfig();
  await start(config, createLog(config.production));
} catch (error) {
  process.stderr.write(`Mandate cannot start. ${explain(error)}\n`);
  process.exitCode = 1;
}
