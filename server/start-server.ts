import { once } from 'node:events';
import type { Server } from 'node:http';
import { LastUse } from './api-keys/last-use.ts';
import { type AppParts, createApp } from './app.ts';
import type { Config } from './config.ts';
import { openMigratedDatabase } from './database/migrate.ts';
import { NewEvents } from './events/new-events.ts';
import { greeting } from './first-run/greeting.ts';
import { firstRunPath, readFirstRunFile } from './first-run/first-run-file.ts';
import { prepareInstallation } from './first-run/prepare-installation.ts';
import { health } from './http/health.ts';
import { httpServer } from './http/http-server.ts';
import { createLog, type Log } from './log.ts';
import { openPaymentProviders } from './payments/open-providers.ts';
import { startBackgroundWork, transportOf } from './process/background-work.ts';
import { finishRequests } from './process/finish-requests.ts';
import { stopOnSignal } from './process/stop-on-signal.ts';
import { openSharedCounters } from './rate-limits/shared-counters.ts';
import { deriveKeys, keptSecret } from './secret-keys.ts';
import { MonthlyUse } from './usage/monthly-use.ts';

/** Resolves when the server listens; from then on a signal ends it, and the process with it. Rejects, with everything closed, when it cannot start. */
export async function startServer(config: Config, log: Log = createLog(config.production)): Promise<void> {
  const db = await openMigratedDatabase(config.databaseUrl);
  try {
    const keys = deriveKeys(config.secret ?? (await keptSecret(config.dataDirectory)));
    const [providers, transport] = [await openPaymentProviders(config.payments), await transportOf(config, log)];
    const [lastUse, monthlyUse] = [new LastUse(), new MonthlyUse()];
    const sharedCounters = config.redisUrl === undefined ? undefined : openSharedCounters(config.redisUrl, config.issuer, log);
    if (config.production && config.payments.test) log.warn('orders can be paid without money: MANDATE_TEST_PAYMENTS is on');
    const background = startBackgroundWork({ config, db, log, keys, providers, transport, lastUse, monthlyUse });
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
      return Promise.all([finishRequests(server), background.stop()]);
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
