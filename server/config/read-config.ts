import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { taxModes } from '@mandate/contract';
import {
  publicServerUrlSchema,
  createChoiceSchema,
  traceCollectorUrlSchema,
  postgresqlUrlSchema,
  mailFromSchema,
  portSchema,
  redisUrlSchema,
  refreshGraceSecondsSchema,
  requestLimitSchema,
  serverSecretSchema,
  securityContactSchema,
  secondsSchema,
  keptBackupsSchema,
  fractionSchema,
  headerNameSchema,
  processCountSchema,
  smtpUrlSchema,
  stripeSecretKeySchema,
  stripeWebhookSecretSchema,
  trustedProxiesSchema,
  wrapSchemaToTreatEmptyAsUnset,
} from './environment-variable-schemas.ts';
import { findClientCertificateFaults, toClientCertificateConfig, type ClientCertificateConfig } from './client-certificate-variables.ts';
import { defaultLoadLimits } from '../http/server/load-shedder.ts';
import { findTlsFileError, type TlsFilePaths } from '../http/server/tls-files.ts';
import { defaultRefreshGraceSeconds } from '../oauth/refresh/default-refresh-grace.ts';
import { type RateLimits, defaultRateLimits } from '../rate-limits/rate-limit-and-quota-counter.ts';
import { type InvalidVariable, readVariablesFromSecretFiles } from './read-secret-files.ts';

export type Config = {
  readonly production: boolean;
  /** `web` serves requests, `worker` runs background jobs, `all` does both. */
  readonly role: (typeof roles)[number];
  /** Number of server processes. Running more than one process requires PostgreSQL. */
  readonly processes: number;
  readonly http: { readonly host: string; readonly port: number };
  /** Certificate files. If certificate files are set, the server terminates TLS itself. */
  readonly tls: TlsFilePaths | undefined;
  /** Public URL of the server, optionally with a path. Every URL that the server returns begins with this URL. */
  readonly issuer: string;
  readonly dataDirectory: string;
  /** Directory for backups that administrators create through the API. If no directory is set, the API cannot create backups. */
  readonly backupDirectory: string | undefined;
  /** Number of backups to keep in this directory; 0 keeps all backups. */
  readonly backupsKept: number;
  /** `postgres://…`, or a directory for the embedded database. */
  readonly databaseUrl: string;
  /** URL that connects to the same PostgreSQL server without the connection pooler, for features that need a dedicated session. */
  readonly directDatabaseUrl: string | undefined;
  /** Whether the server can use prepared statements, which some connection poolers do not support. */
  readonly preparedStatements: boolean;
  /** Maximum time to wait for PostgreSQL at start-up. */
  readonly databaseStartTimeoutSeconds: number;
  /** How long the event loop may be blocked before the watchdog kills the process; 0 disables the watchdog. */
  readonly watchdogSeconds: number;
  /** URL of a streaming replica for list queries. */
  readonly replicaUrl: string | undefined;
  /** Secret from which all keys are derived; `undefined` if the server may use a secret that it generates in the data directory. */
  readonly secret: string | undefined;
  /** Whether prices include tax. If false, tax is added to the prices. */
  readonly taxMode: (typeof taxModes)[number];
  /** Payment providers in addition to manually recorded payments. */
  readonly payments: {
    /** Whether orders can be paid for with test tokens, that is, without real money. */
    readonly test: boolean;
    readonly stripe: { readonly secretKey: string; readonly webhookSecret: string } | undefined;
  };
  /** The administrator to create if no administrator exists yet. */
  readonly administrator: { readonly email: string; readonly password: string } | undefined;
  /** SMTP server and sender address for outgoing mail. */
  readonly mail: { readonly smtpUrl: string; readonly from: string } | undefined;
  /** Contact URI for vulnerability reports (RFC 9116). */
  readonly securityContact: string | undefined;
  /** Whether preview versions of the API are also served. */
  readonly previewVersions: boolean;
  /** Whether applications can register without an initial access token (RFC 7591). */
  readonly openRegistration: boolean;
  /** Number or addresses of the trusted reverse proxies that forward the client's IP address (default: none). */
  readonly trustProxy: number | string | false;
  /** Source and issuing authorities of client certificates. */
  readonly clientCertificates: ClientCertificateConfig | undefined;
  /** Maximum number of concurrent requests. */
  readonly concurrency: number;
  /** How long the server continues to serve requests after a stop signal, so that load balancers can detect the shutdown. */
  readonly stopDelaySeconds: number;
  /** Default grace period, in seconds, during which a repeated refresh request returns the first response; 0 means no grace period. */
  readonly refreshGraceSeconds: number;
  readonly rateLimits: RateLimits;
  /** URL of the Redis server that stores the request counters shared by several processes. */
  readonly redisUrl: string | undefined;
  /** Address of the Prometheus endpoint. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** OTLP/HTTP collector for traces, and the fraction of requests that are traced. */
  readonly traces: { readonly url: string; readonly share: number } | undefined;
};

const roles = ['all', 'web', 'worker'] as const;

/** Thrown if the configuration is invalid. The message lists all errors in the environment variables, without their values. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** The environment variables with their defaults. */
export const environmentSchema = z
  .object({
    NODE_ENV: wrapSchemaToTreatEmptyAsUnset(createChoiceSchema(['development', 'test', 'production']).default('development')),
    MANDATE_ROLE: wrapSchemaToTreatEmptyAsUnset(createChoiceSchema(roles).default('all')),
    MANDATE_PROCESSES: wrapSchemaToTreatEmptyAsUnset(processCountSchema.default('1')),
    HOST: wrapSchemaToTreatEmptyAsUnset(z.string().default('127.0.0.1')),
    PORT: wrapSchemaToTreatEmptyAsUnset(portSchema.default('3000')),
    MANDATE_TLS_CERT: wrapSchemaToTreatEmptyAsUnset(z.string().optional()),
    MANDATE_TLS_KEY: wrapSchemaToTreatEmptyAsUnset(z.string().optional()),
    MANDATE_ISSUER: wrapSchemaToTreatEmptyAsUnset(publicServerUrlSchema.optional()),
    MANDATE_DATA_DIR: wrapSchemaToTreatEmptyAsUnset(z.string().default('./data')),
    MANDATE_BACKUP_DIR: wrapSchemaToTreatEmptyAsUnset(z.string().optional()),
    MANDATE_BACKUP_KEEP: wrapSchemaToTreatEmptyAsUnset(keptBackupsSchema.default('7')),
    DATABASE_URL: wrapSchemaToTreatEmptyAsUnset(postgresqlUrlSchema.optional()),
    DATABASE_DIRECT_URL: wrapSchemaToTreatEmptyAsUnset(postgresqlUrlSchema.optional()),
    DATABASE_PREPARED_STATEMENTS: wrapSchemaToTreatEmptyAsUnset(createChoiceSchema(['on', 'off']).default('on')),
    DATABASE_START_TIMEOUT: wrapSchemaToTreatEmptyAsUnset(secondsSchema.default('60')),
    DATABASE_REPLICA_URL: wrapSchemaToTreatEmptyAsUnset(postgresqlUrlSchema.optional()),
    MANDATE_SECRET: wrapSchemaToTreatEmptyAsUnset(serverSecretSchema.optional()),
    MANDATE_TAX_MODE: wrapSchemaToTreatEmptyAsUnset(createChoiceSchema(taxModes).default('inclusive')),
    MANDATE_PREVIEW_VERSIONS: wrapSchemaToTreatEmptyAsUnset(createChoiceSchema(['on', 'off']).default('off')),
    MANDATE_OPEN_REGISTRATION: wrapSchemaToTreatEmptyAsUnset(createChoiceSchema(['on', 'off']).default('off')),
    MANDATE_TEST_PAYMENTS: wrapSchemaToTreatEmptyAsUnset(createChoiceSchema(['on', 'off']).optional()),
    STRIPE_SECRET_KEY: wrapSchemaToTreatEmptyAsUnset(stripeSecretKeySchema.optional()),
    STRIPE_WEBHOOK_SECRET: wrapSchemaToTreatEmptyAsUnset(stripeWebhookSecretSchema.optional()),
    MANDATE_ADMIN_EMAIL: wrapSchemaToTreatEmptyAsUnset(
      z.string().email('must be an e-mail address').max(254, 'must have at most 254 characters').optional(),
    ),
    MANDATE_ADMIN_PASSWORD: wrapSchemaToTreatEmptyAsUnset(
      z.string().min(12, 'must have at least 12 characters').max(200, 'must have at most 200 characters').optional(),
    ),
    MANDATE_SMTP_URL: wrapSchemaToTreatEmptyAsUnset(smtpUrlSchema.optional()),
    MANDATE_MAIL_FROM: wrapSchemaToTreatEmptyAsUnset(mailFromSchema.optional()),
    MANDATE_SECURITY_CONTACT: wrapSchemaToTreatEmptyAsUnset(securityContactSchema.optional()),
    MANDATE_TRUST_PROXY: wrapSchemaToTreatEmptyAsUnset(trustedProxiesSchema.default('0')),
    MANDATE_CLIENT_CERTIFICATES: wrapSchemaToTreatEmptyAsUnset(createChoiceSchema(['off', 'tls', 'proxy']).default('off')),
    MANDATE_CLIENT_CERTIFICATE_HEADER: wrapSchemaToTreatEmptyAsUnset(headerNameSchema.optional()),
    MANDATE_CLIENT_CERTIFICATE_URL: wrapSchemaToTreatEmptyAsUnset(publicServerUrlSchema.optional()),
    MANDATE_CLIENT_CA: wrapSchemaToTreatEmptyAsUnset(z.string().optional()),
    MANDATE_RATE_LIMIT: wrapSchemaToTreatEmptyAsUnset(requestLimitSchema.default(String(defaultRateLimits.default))),
    MANDATE_RATE_LIMIT_API_KEY: wrapSchemaToTreatEmptyAsUnset(requestLimitSchema.default(String(defaultRateLimits.apiKey))),
    MANDATE_RATE_LIMIT_IP: wrapSchemaToTreatEmptyAsUnset(requestLimitSchema.default(String(defaultRateLimits.ip))),
    MANDATE_MONTHLY_QUOTA: wrapSchemaToTreatEmptyAsUnset(requestLimitSchema.default(String(defaultRateLimits.monthly))),
    MANDATE_STOP_DELAY: wrapSchemaToTreatEmptyAsUnset(secondsSchema.default('0')),
    MANDATE_WATCHDOG: wrapSchemaToTreatEmptyAsUnset(secondsSchema.default('30')),
    MANDATE_REFRESH_GRACE_SECONDS: wrapSchemaToTreatEmptyAsUnset(refreshGraceSecondsSchema.default(String(defaultRefreshGraceSeconds))),
    MANDATE_CONCURRENCY: wrapSchemaToTreatEmptyAsUnset(requestLimitSchema.default(String(defaultLoadLimits.maxConcurrent))),
    MANDATE_METRICS_HOST: wrapSchemaToTreatEmptyAsUnset(z.string().default('127.0.0.1')),
    MANDATE_METRICS_PORT: wrapSchemaToTreatEmptyAsUnset(portSchema.optional()),
    OTEL_TRACES_SAMPLER_ARG: wrapSchemaToTreatEmptyAsUnset(fractionSchema.default('1')),
    OTEL_EXPORTER_OTLP_ENDPOINT: wrapSchemaToTreatEmptyAsUnset(traceCollectorUrlSchema.optional()),
    REDIS_URL: wrapSchemaToTreatEmptyAsUnset(redisUrlSchema.optional()),
  })
  .superRefine((env, context) => {
    const addIssue = (name: keyof typeof env, message: string): void => context.addIssue({ code: 'custom', path: [name], message });
    for (const [one, other, why] of requiredPairs) {
      if ((env[one] === undefined) !== (env[other] === undefined))
        addIssue(env[one] === undefined ? one : other, `must be set too: ${why} needs both`);
    }
    if (env.MANDATE_TLS_CERT !== undefined && env.MANDATE_TLS_KEY !== undefined) {
      const found = findTlsFileError({ certFile: env.MANDATE_TLS_CERT, keyFile: env.MANDATE_TLS_KEY });
      if (found) addIssue(found.file === 'cert' ? 'MANDATE_TLS_CERT' : 'MANDATE_TLS_KEY', found.message);
    }
    for (const { variable, message } of findClientCertificateFaults(env)) addIssue(variable, message);
    if (env.MANDATE_ROLE !== 'all' && env.DATABASE_URL === undefined) {
      addIssue('MANDATE_ROLE', 'must be all without DATABASE_URL: only one process can use the embedded database');
    }
    if (env.MANDATE_PROCESSES !== 'auto' && env.MANDATE_PROCESSES > 1 && env.DATABASE_URL === undefined)
      addIssue('MANDATE_PROCESSES', 'must be 1 or auto without DATABASE_URL: only one process can use the embedded database');
    if (env.DATABASE_REPLICA_URL !== undefined && env.DATABASE_URL === undefined)
      addIssue('DATABASE_REPLICA_URL', 'requires DATABASE_URL, the primary of the replica');
    if (env.DATABASE_DIRECT_URL !== undefined && env.DATABASE_URL === undefined)
      addIssue('DATABASE_DIRECT_URL', 'requires DATABASE_URL, the same database through a connection pooler');
    if (env.MANDATE_METRICS_PORT === env.PORT)
      addIssue('MANDATE_METRICS_PORT', 'must be a different port from PORT, because metrics are not public');
    if (env.NODE_ENV !== 'production') return;
    if (env.MANDATE_SECRET === undefined)
      addIssue('MANDATE_SECRET', 'must be set in production; `openssl rand -hex 32` generates such a value');
    if (!env.MANDATE_ISSUER?.startsWith('https://')) addIssue('MANDATE_ISSUER', 'must be an https URL in production');
    const isPlainHttp = env.MANDATE_TLS_CERT === undefined && env.MANDATE_TRUST_PROXY === false;
    if (isPlainHttp && env.MANDATE_ROLE !== 'worker' && !isLoopback(env.HOST)) addIssue('HOST', plainHttpRefusal);
  });

type Environment = z.output<typeof environmentSchema>;

/** Variables that must be set together. */
const requiredPairs = [
  ['MANDATE_ADMIN_EMAIL', 'MANDATE_ADMIN_PASSWORD', 'an administrator'],
  ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'Stripe'],
  ['MANDATE_SMTP_URL', 'MANDATE_MAIL_FROM', 'sending e-mail'],
  ['MANDATE_TLS_CERT', 'MANDATE_TLS_KEY', 'TLS'],
] as const;

/** Anyone on the network path could read passwords and tokens sent over plain HTTP. */
const plainHttpRefusal =
  'must be 127.0.0.1, ::1 or localhost in production without TLS: set MANDATE_TLS_CERT and MANDATE_TLS_KEY, or, behind a proxy that terminates TLS, MANDATE_TRUST_PROXY';

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** Reads the configuration. No other code reads environment variables or the files that they point to. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const { values, faults } = readVariablesFromSecretFiles(env);
  const given = { ...env, ...values };
  const variableFaults = findFaults(given);
  // a variable whose file cannot be read is not reported a second time as missing
  const allFaults = [...faults, ...variableFaults.filter(({ name }) => !faults.some((addIssue) => addIssue.name === `${name}_FILE`))];
  if (allFaults.length > 0) throw new ConfigurationError(describeFaults(allFaults));
  return toConfig(environmentSchema.parse(given));
}

/** Returns all errors. A rule that involves several variables is checked only if each of these variables is valid on its own. */
function findFaults(given: Readonly<Record<string, string | undefined>>): InvalidVariable[] {
  const individualFaults = validate(given);
  const invalidNames = individualFaults.map(({ name }) => name);
  const validVariables = Object.fromEntries(Object.entries(given).filter(([name]) => !invalidNames.includes(name)));
  return [
    ...individualFaults,
    ...validate(validVariables).filter(({ name, message }) => !invalidNames.some((each) => each === name || message.includes(each))),
  ];
}

const validate = (given: Readonly<Record<string, string | undefined>>): InvalidVariable[] =>
  (environmentSchema.safeParse(given).error?.issues ?? []).map(({ path, message }) => ({ name: path.join('.'), message }));

function toConfig(data: Environment): Config {
  const dataDirectory = resolve(data.MANDATE_DATA_DIR);
  const tls = both(data.MANDATE_TLS_CERT, data.MANDATE_TLS_KEY);
  const [mail, administrator] = [
    both(data.MANDATE_SMTP_URL, data.MANDATE_MAIL_FROM),
    both(data.MANDATE_ADMIN_EMAIL, data.MANDATE_ADMIN_PASSWORD),
  ];
  const stripe = both(data.STRIPE_SECRET_KEY, data.STRIPE_WEBHOOK_SECRET);
  return {
    production: data.NODE_ENV === 'production',
    role: data.MANDATE_ROLE,
    processes: countProcesses(data),
    http: { host: data.HOST, port: data.PORT },
    tls: tls && { certFile: resolve(tls[0]), keyFile: resolve(tls[1]) },
    issuer: data.MANDATE_ISSUER ?? `${tls ? 'https' : 'http'}://localhost:${data.PORT}`,
    dataDirectory,
    backupDirectory: data.MANDATE_BACKUP_DIR === undefined ? undefined : resolve(data.MANDATE_BACKUP_DIR),
    backupsKept: data.MANDATE_BACKUP_KEEP,
    databaseUrl: data.DATABASE_URL ?? join(dataDirectory, 'database'),
    directDatabaseUrl: data.DATABASE_DIRECT_URL,
    preparedStatements: data.DATABASE_PREPARED_STATEMENTS === 'on',
    databaseStartTimeoutSeconds: data.DATABASE_START_TIMEOUT,
    watchdogSeconds: data.MANDATE_WATCHDOG,
    replicaUrl: data.DATABASE_REPLICA_URL,
    secret: data.MANDATE_SECRET,
    taxMode: data.MANDATE_TAX_MODE,
    payments: {
      test: (data.MANDATE_TEST_PAYMENTS ?? (data.NODE_ENV === 'production' ? 'off' : 'on')) === 'on',
      stripe: stripe && { secretKey: stripe[0], webhookSecret: stripe[1] },
    },
    administrator: administrator && { email: administrator[0], password: administrator[1] },
    mail: mail && { smtpUrl: mail[0], from: mail[1] },
    securityContact: data.MANDATE_SECURITY_CONTACT,
    previewVersions: data.MANDATE_PREVIEW_VERSIONS === 'on',
    openRegistration: data.MANDATE_OPEN_REGISTRATION === 'on',
    trustProxy: data.MANDATE_TRUST_PROXY,
    clientCertificates: toClientCertificateConfig(data),
    concurrency: data.MANDATE_CONCURRENCY,
    stopDelaySeconds: data.MANDATE_STOP_DELAY,
    refreshGraceSeconds: data.MANDATE_REFRESH_GRACE_SECONDS,
    rateLimits: {
      default: data.MANDATE_RATE_LIMIT,
      apiKey: data.MANDATE_RATE_LIMIT_API_KEY,
      ip: data.MANDATE_RATE_LIMIT_IP,
      monthly: data.MANDATE_MONTHLY_QUOTA,
    },
    redisUrl: data.REDIS_URL,
    metrics: data.MANDATE_METRICS_PORT === undefined ? undefined : { host: data.MANDATE_METRICS_HOST, port: data.MANDATE_METRICS_PORT },
    traces:
      data.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : { url: data.OTEL_EXPORTER_OTLP_ENDPOINT, share: data.OTEL_TRACES_SAMPLER_ARG },
  };
}

/** Only one process can use the embedded database. */
function countProcesses({ MANDATE_PROCESSES: processes, DATABASE_URL: url }: Environment): number {
  if (processes !== 'auto') return processes;
  return url === undefined ? 1 : availableParallelism();
}

/** Returns both values, or `undefined` if neither is set. The schema has already verified that one is never set without the other. */
const both = (one: string | undefined, other: string | undefined): readonly [string, string] | undefined =>
  one === undefined || other === undefined ? undefined : [one, other];

const describeFaults = (faults: readonly InvalidVariable[]): string =>
  ['The configuration is not complete:', ...faults.map(({ name, message }) => `  ${name} ${message}`)].join('\n');
