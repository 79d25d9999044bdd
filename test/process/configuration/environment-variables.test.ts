import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { maxConfigurableRequestLimit } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { environmentSchema, readConfig, type Config } from '../../../server/config/read-config.ts';

type Row = {
  readonly variable: string;
  /** Other variables that the tested variable requires. */
  readonly others?: NodeJS.ProcessEnv;
  readonly read: (config: Config) => unknown;
  /** Accepted values, and the configuration that results from each. */
  readonly accepted: Readonly<Record<string, unknown>>;
  readonly rejected: readonly string[];
};

const smtp = { MANDATE_SMTP_URL: 'smtp://mail.example' };
const postgresql = { DATABASE_URL: 'postgres://db.example/shop' };

const rows: readonly Row[] = [
  {
    variable: 'PORT',
    read: ({ http }) => http.port,
    accepted: { '1': 1, '80': 80, '65535': 65_535 },
    rejected: ['0', '65536', '100000', 'x80', '80x', '-1'],
  },
  {
    variable: 'MANDATE_PROCESSES',
    others: postgresql,
    read: ({ processes }) => processes,
    accepted: { '1': 1, '2': 2, '256': 256, auto: availableParallelism() },
    rejected: ['0', '257', '1000', '-1', '1.5', 'Auto', 'xauto', 'autox'],
  },
  {
    variable: 'MANDATE_ISSUER',
    read: ({ issuer }) => issuer,
    accepted: {
      'http://shop.example': 'http://shop.example',
      'https://shop.example/': 'https://shop.example',
      'https://shop.example/a/b-c': 'https://shop.example/a/b-c',
      'https://shop.example/a/b/': 'https://shop.example/a/b',
    },
    rejected: [
      'shop.example',
      'ftp://shop.example',
      'xhttps://shop.example/',
      'httpsx://shop.example',
      'https://shop.example//a',
      'https://shop.example/a//',
      'https://shop.example/a%20b',
      'https://shop.example/?a=1',
      'https://shop.example/#a',
      'https://user@shop.example',
    ],
  },
  {
    variable: 'MANDATE_SECRET',
    read: ({ secret }) => secret,
    accepted: { [`${'a'.repeat(39)}-_Z9`]: `${'a'.repeat(39)}-_Z9`, ['b'.repeat(64)]: 'b'.repeat(64) },
    rejected: ['a'.repeat(42), `${'a'.repeat(43)}!`, `!${'a'.repeat(43)}`],
  },
  {
    variable: 'DATABASE_URL',
    read: ({ databaseUrl }) => databaseUrl,
    accepted: {
      'postgres://db.example/shop': 'postgres://db.example/shop',
      'postgresql://db.example/shop': 'postgresql://db.example/shop',
    },
    rejected: ['mysql://db.example/shop', 'xpostgres://db.example', 'postgresq://db.example', 'postgres'],
  },
  {
    variable: 'MANDATE_SMTP_URL',
    others: { MANDATE_MAIL_FROM: 'shop@example.com' },
    read: ({ mail }) => mail?.smtpUrl,
    accepted: { 'smtp://mail.example': 'smtp://mail.example', 'smtps://u:p@mail.example:465': 'smtps://u:p@mail.example:465' },
    rejected: ['mail.example', 'https://mail.example', 'xsmtp://mail.example', 'smtpsx://mail.example', 'smtp://', 'smtp:'],
  },
  {
    variable: 'MANDATE_MAIL_FROM',
    others: smtp,
    read: ({ mail }) => mail?.from,
    accepted: {
      'shop@example.com': 'shop@example.com',
      '<shop@example.com>': '<shop@example.com>',
      'Northgate Gifts <shop@example.com>': 'Northgate Gifts <shop@example.com>',
    },
    rejected: [
      'shop',
      'shop@',
      '@example.com',
      'shop@example.com, other@example.com',
      'shop@example.com;other@example.com',
      '"Shop" <shop@example.com>',
      'A <B> <shop@example.com>',
      'Shop\r\nBcc: other@example.com <shop@example.com>',
      'Shop <shop@example.com> x',
      'Shop <shop@example.com',
      'shop@example.com>',
    ],
  },
  {
    variable: 'MANDATE_SECURITY_CONTACT',
    read: ({ securityContact }) => securityContact,
    accepted: {
      'https://shop.example/security': 'https://shop.example/security',
      'tel:+44-20-1234': 'tel:+44-20-1234',
      'mailto:security@shop.example': 'mailto:security@shop.example',
      'security@shop.example': 'mailto:security@shop.example',
    },
    rejected: [
      'http://shop.example',
      'https://',
      'https://shop example',
      'tel:44',
      'tel:+',
      'tel:+44 20',
      'x tel:+44',
      'a@b@c.example',
      'security',
    ],
  },
  {
    variable: 'MANDATE_TRUST_PROXY',
    read: ({ trustProxy }) => trustProxy,
    accepted: {
      '0': false,
      '1': 1,
      '12': 12,
      '10.0.0.0/8': '10.0.0.0/8',
      '::1,fe80::/10': '::1,fe80::/10',
      '10.0.0.0/255.0.0.0, ::/128': '10.0.0.0/255.0.0.0, ::/128',
      '10.0.0.1, ::1': '10.0.0.1, ::1',
    },
    rejected: [
      '100',
      '123456',
      'dead',
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/8/8',
      '::/255.0.0.0',
      '/8',
      'true',
      '10.0.0.1,  ::1',
      '10.0.0.1,',
      ', 10.0.0.1',
      'x10.0.0.1',
      '10.0.0.1 x',
    ],
  },
  {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    others: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318' },
    read: ({ traces }) => traces?.share,
    accepted: { '0': 0, '0.5': 0.5, '0.123456': 0.123_456, '1': 1 },
    rejected: ['2', '1.5', '0.', '0.1234567', '.5', '10', '-0.5', '00'],
  },
  {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    read: ({ traces }) => traces?.url,
    accepted: { 'http://collector.example:4318': 'http://collector.example:4318', 'https://c.example': 'https://c.example' },
    rejected: [
      'collector.example:4318',
      'ftp://collector.example',
      'xhttp://collector.example',
      'httpsx://c.example',
      'http://c.example/?a=1',
    ],
  },
  {
    variable: 'REDIS_URL',
    read: ({ redisUrl }) => redisUrl,
    accepted: { 'redis://r.example:6379/0': 'redis://r.example:6379/0', 'rediss://u:p@r.example': 'rediss://u:p@r.example' },
    rejected: ['r.example', 'http://r.example', 'xredis://r.example', 'redissx://r.example', 'redis:'],
  },
  {
    variable: 'STRIPE_SECRET_KEY',
    others: { STRIPE_WEBHOOK_SECRET: 'whsec_1' },
    read: ({ payments }) => payments.stripe?.secretKey,
    accepted: { sk_test_1: 'sk_test_1', rk_live_1: 'rk_live_1' },
    rejected: ['pk_test_1', 'sk_', 'xsk_test_1', 'sk_test 1', 'sk_test_1!'],
  },
  {
    variable: 'STRIPE_WEBHOOK_SECRET',
    others: { STRIPE_SECRET_KEY: 'sk_test_1' },
    read: ({ payments }) => payments.stripe?.webhookSecret,
    accepted: { 'whsec_a+b/c=': 'whsec_a+b/c=' },
    rejected: ['whsec_', 'xwhsec_1', 'whsec_1 2', 'sk_test_1'],
  },
  {
    variable: 'MANDATE_ADMIN_EMAIL',
    others: { MANDATE_ADMIN_PASSWORD: 'a long password' },
    read: ({ administrator }) => administrator?.email,
    accepted: { 'ada@example.com': 'ada@example.com' },
    rejected: ['ada', `${'a'.repeat(250)}@example.com`],
  },
  {
    variable: 'MANDATE_ADMIN_PASSWORD',
    others: { MANDATE_ADMIN_EMAIL: 'ada@example.com' },
    read: ({ administrator }) => administrator?.password,
    accepted: { 'twelve chars': 'twelve chars', ['p'.repeat(200)]: 'p'.repeat(200) },
    rejected: ['eleven char', 'p'.repeat(201)],
  },
  {
    variable: 'MANDATE_REFRESH_GRACE_SECONDS',
    read: (config) => config.refreshGraceSeconds,
    accepted: { '0': 0, '300': 300, '': 30 },
    rejected: ['301', '-1', 'x1', '1x', '1000'],
  },
  {
    variable: 'MANDATE_METRICS_PORT',
    read: ({ metrics }) => metrics?.port,
    accepted: { '9090': 9090, '': undefined },
    rejected: ['0', '65536', '3000'],
  },
  {
    variable: 'MANDATE_METRICS_HOST',
    others: { MANDATE_METRICS_PORT: '9090' },
    read: ({ metrics }) => metrics?.host,
    accepted: { '10.0.0.7': '10.0.0.7', '': '127.0.0.1' },
    rejected: [],
  },
  numberUpTo999('MANDATE_BACKUP_KEEP', (config) => config.backupsKept, 7),
  { variable: 'MANDATE_BACKUP_DIR', read: (config) => config.backupDirectory, accepted: { '/b': '/b', '': undefined }, rejected: [] },
  {
    variable: 'DATABASE_DIRECT_URL',
    others: postgresql,
    read: (config) => config.directDatabaseUrl,
    accepted: { 'postgres://direct.example': 'postgres://direct.example', '': undefined },
    rejected: ['direct.example'],
  },
  {
    variable: 'DATABASE_REPLICA_URL',
    others: postgresql,
    read: (config) => config.replicaUrl,
    accepted: { 'postgres://replica.example': 'postgres://replica.example', '': undefined },
    rejected: ['replica.example'],
  },
  choice('NODE_ENV', (config) => config.production, { development: false, test: false, '': false }),
  choice('MANDATE_ROLE', (config) => config.role, { all: 'all', web: 'web', worker: 'worker', '': 'all' }, postgresql),
  choice('DATABASE_PREPARED_STATEMENTS', (config) => config.preparedStatements, { on: true, off: false, '': true }),
  choice('MANDATE_TAX_MODE', (config) => config.taxMode, { inclusive: 'inclusive', exclusive: 'exclusive', '': 'inclusive' }),
  choice('MANDATE_PREVIEW_VERSIONS', (config) => config.previewVersions, { on: true, off: false, '': false }),
  choice('MANDATE_OPEN_REGISTRATION', (config) => config.openRegistration, { on: true, off: false, '': false }),
  choice('MANDATE_TEST_PAYMENTS', (config) => config.payments.test, { on: true, off: false, '': true }),
  text('HOST', (config) => config.http.host, '127.0.0.1'),
  text('MANDATE_DATA_DIR', (config) => relative(process.cwd(), config.dataDirectory), 'data'),
  numberUpTo999('DATABASE_START_TIMEOUT', (config) => config.databaseStartTimeoutSeconds, 60),
  numberUpTo999('MANDATE_STOP_DELAY', (config) => config.stopDelaySeconds, 0),
  numberUpTo999('MANDATE_WATCHDOG', (config) => config.watchdogSeconds, 30),
  count('MANDATE_RATE_LIMIT', (config) => config.rateLimits.default, 600),
  count('MANDATE_RATE_LIMIT_API_KEY', (config) => config.rateLimits.apiKey, 600),
  count('MANDATE_RATE_LIMIT_IP', (config) => config.rateLimits.ip, 600),
  count('MANDATE_MONTHLY_QUOTA', (config) => config.rateLimits.monthly, 1_000_000),
  count('MANDATE_CONCURRENCY', (config) => config.concurrency, 32),
];

function choice(variable: string, read: Row['read'], accepted: Row['accepted'], others: NodeJS.ProcessEnv = {}): Row {
  const [first] = Object.keys(accepted);
  return { variable, read, others, accepted, rejected: ['x', `x${first}`, `${first}x`, String(first).toUpperCase()] };
}

function text(variable: string, read: Row['read'], unset: string): Row {
  return { variable, read, accepted: { 'other.example': 'other.example', '': unset }, rejected: [] };
}

function numberUpTo999(variable: string, read: Row['read'], unset: number): Row {
  return { variable, read, accepted: { '0': 0, '999': 999, '': unset }, rejected: ['1000', '-1', '1.5', 'x1', '1x'] };
}

function count(variable: string, read: Row['read'], unset: number): Row {
  const rejected = ['0', '01', '-1', '1.5', 'x1', '1x', '10000000000', String(maxConfigurableRequestLimit + 1)];
  return { variable, read, accepted: { '1': 1, [maxConfigurableRequestLimit]: maxConfigurableRequestLimit, '': unset }, rejected };
}

/** These variables contain or depend on file names, and other tests in this folder test them with real files. */
const variablesWithFiles = [
  'MANDATE_CLIENT_CA',
  'MANDATE_CLIENT_CERTIFICATES',
  'MANDATE_CLIENT_CERTIFICATE_HEADER',
  'MANDATE_CLIENT_CERTIFICATE_URL',
  'MANDATE_TLS_CERT',
  'MANDATE_TLS_KEY',
];

test('the table contains every variable', () => {
  const variables = rows.map(({ variable }) => variable);
  expect([...variables, ...variablesWithFiles].toSorted()).toEqual(Object.keys(environmentSchema.innerType().shape).toSorted());
});

describe.each(rows)('$variable', ({ variable, others, read, accepted, rejected }) => {
  test.each(Object.entries(accepted))('accepts "%s"', (value, expected) => {
    expect(read(readConfig({ ...others, [variable]: value }))).toEqual(expected);
  });

  test.each(rejected)('rejects %j', (value) => {
    expect(() => readConfig({ ...others, [variable]: value })).toThrow(`\n  ${variable} must `);
  });
});
