import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createApp } from '../app/app.ts';
import type { Config } from '../config/read-config.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import { EventLongPoller } from '../events/event-long-poll.ts';
import { formatWelcomeMessage } from '../first-run/format-welcome-message.ts';
import { getFirstRunCredentialsFilePath, readFirstRunCredentialsOfThisDatabase } from '../first-run/first-run-credentials-file.ts';
import { createAdministratorAndDemonstrationShop } from '../first-run/create-administrator-and-demonstration-shop.ts';
import type { ClientCertificateOptions } from '../http/request/client-certificate.ts';
import { readCertificateAuthorities } from '../http/server/certificate-authorities-file.ts';
import { createHealthHandler } from '../http/server/health-check-handler.ts';
import { createHttpServer } from '../http/server/http-server.ts';
import { reloadCertificateAuthoritiesOnChange } from '../http/server/reload-certificate-authorities-on-change.ts';
import { reloadTlsFilesOnChange } from '../http/server/reload-tls-files-on-change.ts';
import { readTlsFiles } from '../http/server/tls-files.ts';
import type { Log } from '../logging/logger.ts';
import { basePathFromIssuer } from '../oauth/protocol/endpoint-paths-and-audiences.ts';
import { createRateLimitCounters, type CreateRateLimitCounters } from '../rate-limits/memory-or-redis-counters.ts';
import { openRedisCounterConnection } from '../rate-limits/redis-counter-connection.ts';
import { createSupervisorCounters } from '../rate-limits/supervisor-counters.ts';
import type { CleanupStack } from './cleanup-stack.ts';
import { drainConnections } from './drain-connections.ts';
import type { ProcessDependencies } from './process-dependencies.ts';
import { isSupervised } from './supervisor/connect-to-supervisor.ts';

/**
 * Starts the web server, which serves requests until `opened` is closed. Closing `opened` finishes the requests in progress.
 * @param wake called when there is new work for the background jobs
 * @returns the welcome message, which is empty in production
 */
export async function startWebServerAfterFirstRunSetup(
  parts: ProcessDependencies,
  wake: () => void,
  opened: CleanupStack,
): Promise<string> {
  const { config, log, db, storage, metrics, transport, shutdown, requests, ...rest } = parts;
  const { issuer, taxMode, trustProxy, rateLimits, previewVersions, openRegistration, refreshGraceSeconds, securityContact } = config;
  const createCounters = await chooseRateLimitCounters(config, log, opened);
  const newEvents = new EventLongPoller(db.em);
  const appSettings = {
    issuer,
    taxMode,
    trustProxy,
    previewVersions,
    openRegistration,
    refreshGraceSeconds,
    securityContact,
    canMail: transport !== undefined,
    clientCertificates: config.clientCertificates && openClientCertificates(config.clientCertificates, log, opened),
    development: !config.production,
    hasBackupDirectory: config.backupDirectory !== undefined,
  };
  const limitSettings = { rateLimits, createCounters, onTokenOperation: metrics?.onTokenOperation };
  const app = await createApp({ db, log, ...rest, wake, newEvents, ...appSettings, ...limitSettings });
  await prepareDatabase(config, db, log);
  const tls = config.tls && readTlsFiles(config.tls);
  const stopping = new AbortController();
  const timeouts = trustProxy === false ? {} : { keepAlive: keepAliveBehindProxyMs };
  const server = createHttpServer(app, {
    issuer,
    log,
    health: createHealthHandler(db, stopping.signal, storage),
    load: { maxConcurrent: config.concurrency },
    timeouts,
    tls,
    requestClientCertificates: config.clientCertificates?.source.kind === 'tls',
    watchLoad: (loadShedder) => {
      requests.watch(loadShedder);
      metrics?.watchLoad(loadShedder);
    },
  });
  metrics?.watchRequests(server, basePathFromIssuer(issuer));
  await listen(server, config, log);
  if (config.tls && tls) opened.use(reloadTlsFilesOnChange(server, config.tls, tls, log));
  opened.defer(() => {
    if (!shutdown.isReplaced) stopping.abort();
    // ends open long polls, which would otherwise delay the shutdown
    return drainConnections(server, shutdown.isReplaced ? replacementDelayMs : config.stopDelaySeconds * 1_000, () => newEvents.stop());
  });
  return createWelcomeMessage(config, db);
}

/**
 * Returns the options for client certificates, including the trusted CA certificates. When the CA file changes, the CA certificates in the
 * options are replaced.
 */
function openClientCertificates(
  { source, authoritiesFile: path, url }: NonNullable<Config['clientCertificates']>,
  log: Log,
  opened: CleanupStack,
): ClientCertificateOptions {
  const options = { source, url, authorities: path === undefined ? [] : readCertificateAuthorities(path) };
  if (path !== undefined) opened.use(reloadCertificateAuthoritiesOnChange(path, options, log));
  return options;
}

/**
 * If Redis is configured, it counts the requests to all processes on all machines. Without Redis, the supervisor counts the requests to all
 * its processes, and a process without a supervisor counts requests in memory.
 */
async function chooseRateLimitCounters(config: Config, log: Log, opened: CleanupStack): Promise<CreateRateLimitCounters | undefined> {
  const { redisUrl, issuer } = config;
  if (redisUrl === undefined) return isSupervised(config) ? createSupervisorCounters : undefined;
  const redis = await openRedisCounterConnection(redisUrl, issuer, log);
  opened.defer(() => redis.close());
  return (windowSeconds) => createRateLimitCounters(windowSeconds, redis);
}

/**
 * Starts the HTTP server of a `worker` process. The server handles only health checks, without TLS, because probes are local.
 * @returns the welcome message, which is empty in production
 */
export async function startHealthServer({ config, log, db }: ProcessDependencies, opened: CleanupStack): Promise<string> {
  const stopping = new AbortController();
  const respondToHealthCheck = createHealthHandler(db, stopping.signal);
  const server = createServer((req, res) => void (respondToHealthCheck(req.url, res) || res.writeHead(404).end()));
  await listen(server, config, log);
  opened.defer(() => {
    stopping.abort();
    return drainConnections(server);
  });
  return config.production ? '' : '\nMandate is running. This process runs background jobs and serves /healthz and /readyz.\n\n';
}

async function prepareDatabase(config: Config, db: Database, log: Log): Promise<void> {
  const outcome = await createAdministratorAndDemonstrationShop(db, config, new Date());
  if (outcome === 'without administrator')
    log.warn('there is no administrator yet: set MANDATE_ADMIN_EMAIL and MANDATE_ADMIN_PASSWORD for one start');
}

/**
 * This timeout is longer than the 60 seconds for which proxies (nginx, cloud load balancers) keep idle connections open. With a shorter
 * timeout, a proxy could send a request over a connection that the server is closing, and then respond with 502.
 */
const keepAliveBehindProxyMs = 75_000;

/**
 * Time, in milliseconds, for which a process that is being replaced asks clients with open connections to use other connections. A request
 * on an idle connection would be lost if the connection were closed at the same moment.
 */
const replacementDelayMs = 2_000;

/** Maximum number of pending connections in the queue. When the queue is full, a client retries only after a second. */
const backlog = 4096;

async function listen(server: Server, { http, issuer, role }: Config, log: Log): Promise<void> {
  server.listen({ ...http, backlog });
  await once(server, 'listening');
  log.info({ ...http, issuer, role }, 'listening');
}

async function createWelcomeMessage(config: Config, db: Database): Promise<string> {
  const { production, issuer, dataDirectory } = config;
  const isFirstProcess = !isSupervised(config) || cluster.worker?.id === 1;
  if (production || !isFirstProcess) return '';
  const file = await readFirstRunCredentialsOfThisDatabase(db.em.fork(), dataDirectory);
  return formatWelcomeMessage(issuer, file, getFirstRunCredentialsFilePath(dataDirectory));
}
