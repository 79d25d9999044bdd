import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createApp } from '../app.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/orm.ts';
import { NewEvents } from '../events/new-events.ts';
import { greeting } from '../first-run/greeting.ts';
import { firstRunPath, readFirstRunFile } from '../first-run/first-run-file.ts';
import { prepareInstallation } from '../first-run/prepare-installation.ts';
import { health } from '../http/health.ts';
import { httpServer } from '../http/http-server.ts';
import { followTlsFiles } from '../http/reload-tls.ts';
import { readTlsFiles } from '../http/tls-files.ts';
import type { Log } from '../log.ts';
import { pathOf } from '../oauth/endpoints.ts';
import { openSharedCounters } from '../rate-limits/shared-counters.ts';
import { finishRequests } from './finish-requests.ts';
import type { ProcessParts } from './parts.ts';

/**
 * Answers requests, until `opened` is closed: then those that have begun are finished.
 * @param wake called when something waits in the background
 */
export async function startServing(parts: ProcessParts, wake: () => void, opened: AsyncDisposableStack): Promise<void> {
  const { config, log, db, metrics, transport, ...rest } = parts;
  const { issuer, taxMode, trustProxy, rateLimits, previewVersions } = config;
  const sharedCounters = config.redisUrl === undefined ? undefined : openSharedCounters(config.redisUrl, issuer, log);
  opened.defer(async () => sharedCounters?.close());
  const newEvents = new NewEvents(db.em);
  const shown = { issuer, taxMode, trustProxy, previewVersions, canMail: transport !== undefined, development: !config.production };
  const counted = { rateLimits, sharedCounters, onTokenOperation: metrics?.onTokenOperation };
  const app = await createApp({ db, log, ...rest, wake, newEvents, ...shown, ...counted });
  await prepare(config, db, log);
  const tls = config.tls && readTlsFiles(config.tls);
  const load = { atOnce: config.concurrency };
  const server = httpServer(app, { issuer, log, health: health(db), load, tls, watchLoad: metrics?.watchLoad });
  metrics?.watchRequests(server, pathOf(issuer));
  await listen(server, config, log);
  if (config.tls && tls) opened.use(followTlsFiles(server, config.tls, tls, log));
  opened.defer(() => {
    newEvents.stop(); // whoever waits for an event would hold up the end
    return finishRequests(server);
  });
  await greet(config, db);
}

/** A process that works in the background alone answers nobody but those who watch it, without TLS: they are close by. */
export async function startAnsweringHealth({ config, log, db }: ProcessParts, opened: AsyncDisposableStack): Promise<void> {
  const answer = health(db);
  const server = createServer((req, res) => void (answer(req.url, res) || res.writeHead(404).end()));
  await listen(server, config, log);
  opened.defer(() => finishRequests(server));
  if (!config.production)
    process.stdout.write('\nMandate is running. This process works in the background: it answers /healthz and /readyz.\n\n');
}

async function prepare(config: Config, db: Database, log: Log): Promise<void> {
  const outcome = await prepareInstallation(db, config, new Date());
  if (outcome === 'without administrator')
    log.warn('there is no administrator yet: set MANDATE_ADMIN_EMAIL and MANDATE_ADMIN_PASSWORD for one start');
}

async function listen(server: Server, { http, issuer, role }: Config, log: Log): Promise<void> {
  server.listen(http);
  await once(server, 'listening');
  log.info({ ...http, issuer, role }, 'listening');
}

async function greet({ production, issuer, dataDirectory }: Config, db: Database): Promise<void> {
  if (production) return;
  const file = await readFirstRunFile(db.em.fork(), dataDirectory);
  process.stdout.write(greeting(issuer, file, firstRunPath(dataDirectory)));
}
