import { join, resolve } from 'node:path';
import { z } from 'zod';
import { taxModes } from '@mandate/contract';
import {
  address,
  choice,
  collector,
  database,
  mailFrom,
  port,
  redis,
  refreshGrace,
  requests,
  secret,
  securityContact,
  seconds,
  share,
  smtp,
  trustProxy,
  variable,
} from './environment-values.ts';
import { usualLoadLimits } from '../http/server/load-shedder.ts';
import { faultOfTlsFiles, type TlsFiles } from '../http/server/tls-files.ts';
import { defaultRefreshGraceSeconds } from '../oauth/refresh/refresh-grace.ts';
import { type RateLimits, usualRateLimits } from '../rate-limits/rate-limits.ts';
import { type Fault, readSecretFiles } from './secrets-from-files.ts';

export type Config = {
  readonly production: boolean;
  /** `web` answers requests, `worker` does what goes on in the background, `all` does both. */
  readonly role: (typeof roles)[number];
  readonly http: { readonly host: string; readonly port: number };
  /** With them the server speaks TLS itself. */
  readonly tls: TlsFiles | undefined;
  /** The address people and programs reach the server by, perhaps with a path; every address it gives out begins with it. */
  readonly issuer: string;
  readonly dataDirectory: string;
  /** `postgres://…`, or a directory for the embedded database. */
  readonly databaseUrl: string;
  /** The same PostgreSQL without a connection pooler, for what needs a session of its own. */
  readonly directDatabaseUrl: string | undefined;
  /** Whether PostgreSQL keeps statements by name for each connection; some connection poolers do not support that. */
  readonly preparedStatements: boolean;
  /** How long a start waits for PostgreSQL. */
  readonly databaseStartTimeoutSeconds: number;
  /** After how many seconds a blocked event loop ends the process; 0 turns the watchdog off. */
  readonly watchdogSeconds: number;
  /** A streaming replica of the same database, for lists. */
  readonly replicaUrl: string | undefined;
  /** What all keys are derived from; `undefined` where one may be made up and kept in the data directory. */
  readonly secret: string | undefined;
  /** Whether prices contain the tax, or it comes on top. */
  readonly taxMode: (typeof taxModes)[number];
  /** Who takes the money, besides people by hand. */
  readonly payments: {
    /** Whether orders can be paid with test tokens, that is, without money. */
    readonly test: boolean;
    readonly stripe: { readonly secretKey: string; readonly webhookSecret: string } | undefined;
  };
  /** Who becomes administrator when there is none yet. */
  readonly administrator: { readonly email: string; readonly password: string } | undefined;
  /** The server that takes messages, and who they are from. */
  readonly mail: { readonly smtpUrl: string; readonly from: string } | undefined;
  /** The URI at which the operator takes reports of vulnerabilities (RFC 9116). */
  readonly securityContact: string | undefined;
  /** Whether versions of the API that may still change are served beside the others. */
  readonly previewVersions: boolean;
  /** Whether applications can register without an initial access token (RFC 7591). */
  readonly openRegistration: boolean;
  /** Whose word about the address of a caller counts: a number of proxies, or their addresses; nobody's unless it is said. */
  readonly trustProxy: number | string | false;
  /** How many requests are worked on at once. */
  readonly concurrency: number;
  /** How many seconds it goes on answering after it was asked to stop, for whoever sends requests here to notice. */
  readonly stopDelaySeconds: number;
  /** How long a repeated refresh returns the first response, in seconds; 0 turns it off. */
  readonly refreshGraceSeconds: number;
  readonly rateLimits: RateLimits;
  /** Where several processes count requests together. */
  readonly redisUrl: string | undefined;
  /** Where this process tells Prometheus what it counts. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** The collector that takes traces by OTLP over HTTP, and which share of them it gets. */
  readonly traces: { readonly url: string; readonly share: number } | undefined;
};

const roles = ['all', 'web', 'worker'] as const;

/** Everything that is wrong with the environment, at once, and without repeating what was in it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

const environment = z
  .object({
    NODE_ENV: variable(choice(['development', 'test', 'production']).default('development')),
    MANDATE_ROLE: variable(choice(roles).default('all')),
    HOST: variable(z.string().default('127.0.0.1')),
    PORT: variable(port.default('3000')),
    MANDATE_TLS_CERT: variable(z.string().optional()),
    MANDATE_TLS_KEY: variable(z.string().optional()),
    MANDATE_ISSUER: variable(address.optional()),
    MANDATE_DATA_DIR: variable(z.string().default('./data')),
    DATABASE_URL: variable(database.optional()),
    DATABASE_DIRECT_URL: variable(database.optional()),
    DATABASE_PREPARED_STATEMENTS: variable(choice(['on', 'off']).default('on')),
    DATABASE_START_TIMEOUT: variable(seconds.default('60')),
    DATABASE_REPLICA_URL: variable(database.optional()),
    MANDATE_SECRET: variable(secret.optional()),
    MANDATE_TAX_MODE: variable(choice(taxModes).default('inclusive')),
    MANDATE_PREVIEW_VERSIONS: variable(choice(['on', 'off']).default('off')),
    MANDATE_OPEN_REGISTRATION: variable(choice(['on', 'off']).default('off')),
    MANDATE_TEST_PAYMENTS: variable(choice(['on', 'off']).optional()),
    STRIPE_SECRET_KEY: variable(
      z
        .string()
        .regex(/^[sr]k_\w+$/, 'must be a secret or restricted key of Stripe')
        .optional(),
    ),
    STRIPE_WEBHOOK_SECRET: variable(
      z
        .string()
        .regex(/^whsec_\S+$/, 'must be the signing secret of a webhook endpoint at Stripe')
        .optional(),
    ),
    MANDATE_ADMIN_EMAIL: variable(z.string().email('must be an e-mail address').max(254).optional()),
    MANDATE_ADMIN_PASSWORD: variable(z.string().min(12, 'must have at least 12 characters').max(200).optional()),
    MANDATE_SMTP_URL: variable(smtp.optional()),
    MANDATE_MAIL_FROM: variable(mailFrom.optional()),
    MANDATE_SECURITY_CONTACT: variable(securityContact.optional()),
    MANDATE_TRUST_PROXY: variable(trustProxy.default('0')),
    MANDATE_RATE_LIMIT: variable(requests.default(String(usualRateLimits.default))),
    MANDATE_RATE_LIMIT_API_KEY: variable(requests.default(String(usualRateLimits.apiKey))),
    MANDATE_RATE_LIMIT_IP: variable(requests.default(String(usualRateLimits.ip))),
    MANDATE_MONTHLY_QUOTA: variable(requests.default(String(usualRateLimits.monthly))),
    MANDATE_STOP_DELAY: variable(seconds.default('0')),
    MANDATE_WATCHDOG: variable(seconds.default('30')),
    MANDATE_REFRESH_GRACE_SECONDS: variable(refreshGrace.default(String(defaultRefreshGraceSeconds))),
    MANDATE_CONCURRENCY: variable(requests.default(String(usualLoadLimits.atOnce))),
    MANDATE_METRICS_HOST: variable(z.string().default('127.0.0.1')),
    MANDATE_METRICS_PORT: variable(port.optional()),
    OTEL_TRACES_SAMPLER_ARG: variable(share.default('1')),
    OTEL_EXPORTER_OTLP_ENDPOINT: variable(collector.optional()),
    REDIS_URL: variable(redis.optional()),
  })
  .superRefine((env, context) => {
    const fault = (name: keyof typeof env, message: string): void => context.addIssue({ code: 'custom', path: [name], message });
    for (const [one, other, why] of pairs) {
      if ((env[one] === undefined) !== (env[other] === undefined))
        fault(env[one] === undefined ? one : other, `must be set too: ${why} needs both`);
    }
    if (env.MANDATE_TLS_CERT !== undefined && env.MANDATE_TLS_KEY !== undefined) {
      const found = faultOfTlsFiles({ certFile: env.MANDATE_TLS_CERT, keyFile: env.MANDATE_TLS_KEY });
      if (found) fault(found.file === 'cert' ? 'MANDATE_TLS_CERT' : 'MANDATE_TLS_KEY', found.message);
    }
    if (env.MANDATE_ROLE !== 'all' && env.DATABASE_URL === undefined) {
      fault('MANDATE_ROLE', 'must be all without DATABASE_URL: the embedded database belongs to one process');
    }
    if (env.DATABASE_REPLICA_URL !== undefined && env.DATABASE_URL === undefined)
      fault('DATABASE_REPLICA_URL', 'needs DATABASE_URL, which it is a replica of');
    if (env.DATABASE_DIRECT_URL !== undefined && env.DATABASE_URL === undefined)
      fault('DATABASE_DIRECT_URL', 'needs DATABASE_URL, the same database through a connection pooler');
    if (env.MANDATE_METRICS_PORT === env.PORT) fault('MANDATE_METRICS_PORT', 'must be another port than PORT: not everybody may read them');
    if (env.NODE_ENV !== 'production') return;
    if (env.MANDATE_SECRET === undefined) fault('MANDATE_SECRET', 'must be set in production; `openssl rand -hex 32` makes one');
    if (!env.MANDATE_ISSUER?.startsWith('https://')) fault('MANDATE_ISSUER', 'must be an https address in production');
    const plain = env.MANDATE_TLS_CERT === undefined && env.MANDATE_TRUST_PROXY === false;
    if (plain && env.MANDATE_ROLE !== 'worker' && !isLoopback(env.HOST)) fault('HOST', whyNotPlain);
  });

type Environment = z.output<typeof environment>;

/** Each of them says nothing without the other. */
const pairs = [
  ['MANDATE_ADMIN_EMAIL', 'MANDATE_ADMIN_PASSWORD', 'an administrator'],
  ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'Stripe'],
  ['MANDATE_SMTP_URL', 'MANDATE_MAIL_FROM', 'sending e-mail'],
  ['MANDATE_TLS_CERT', 'MANDATE_TLS_KEY', 'TLS'],
] as const;

/** Whoever listens to http on the way reads every password and token. */
const whyNotPlain =
  'must be 127.0.0.1, ::1 or localhost in production without TLS: set MANDATE_TLS_CERT and MANDATE_TLS_KEY, or, with a proxy in front that ends TLS, MANDATE_TRUST_PROXY';

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** The only place that reads the environment, and the files that its variables name. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const { values, faults } = readSecretFiles(env);
  const given = { ...env, ...values };
  const issues = faultsOf(given);
  // what a file would have said is not missing as well
  const all = [...faults, ...issues.filter(({ name }) => !faults.some((fault) => fault.name === `${name}_FILE`))];
  if (all.length > 0) throw new ConfigurationError(describe(all));
  return configOf(environment.parse(given));
}

/** Everything at once: what variables say together is looked at when each is right by itself, so those that are not are left out for that. */
function faultsOf(given: Readonly<Record<string, string | undefined>>): Fault[] {
  const alone = issuesOf(given);
  const wrong = alone.map(({ name }) => name);
  const right = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.includes(name)));
  return [...alone, ...issuesOf(right).filter(({ name, message }) => !wrong.some((each) => each === name || message.includes(each)))];
}

const issuesOf = (given: Readonly<Record<string, string | undefined>>): Fault[] =>
  (environment.safeParse(given).error?.issues ?? []).map(({ path, message }) => ({ name: path.join('.'), message }));

function configOf(data: Environment): Config {
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
    http: { host: data.HOST, port: data.PORT },
    tls: tls && { certFile: resolve(tls[0]), keyFile: resolve(tls[1]) },
    issuer: data.MANDATE_ISSUER ?? `${tls ? 'https' : 'http'}://localhost:${data.PORT}`,
    dataDirectory,
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

/** What is of use together alone; that both are there is checked before. */
const both = (one: string | undefined, other: string | undefined): readonly [string, string] | undefined =>
  one === undefined || other === undefined ? undefined : [one, other];

const describe = (faults: readonly Fault[]): string =>
  ['The configuration is not complete:', ...faults.map(({ name, message }) => `  ${name} ${message}`)].join('\n');
