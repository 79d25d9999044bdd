import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../server/config/read-config.ts';
import { deriveKeys, loadOrCreateServerSecret } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { createSelfSignedCertificate } from '../../support/network/self-signed-certificate.ts';
import { createDataDirectory } from '../../support/server/server-process.ts';

const secret = 'a'.repeat(43);

test('development needs no variables', () => {
  expect(readConfig({})).toMatchObject({
    production: false,
    http: { host: '127.0.0.1', port: 3000 },
    issuer: 'http://localhost:3000',
    dataDirectory: join(process.cwd(), 'data'),
    databaseUrl: join(process.cwd(), 'data', 'database'),
    secret: undefined,
    administrator: undefined,
    payments: { test: true, stripe: undefined },
    mail: undefined,
    previewVersions: false,
    openRegistration: false,
    trustProxy: false,
  });
});

test('an empty variable counts as unset, and the default issuer contains the port', () => {
  expect(readConfig({ MANDATE_SECRET: '', DATABASE_URL: '', PORT: '8080' })).toMatchObject({
    issuer: 'http://localhost:8080',
    secret: undefined,
  });
});

test('production without a secret and an https issuer is rejected with one message for both', () => {
  const refusal = (): unknown => readConfig({ NODE_ENV: 'production', MANDATE_ISSUER: 'http://shop.example' });
  expect(refusal).toThrow(/MANDATE_SECRET must be set in production(.|\n)*MANDATE_ISSUER must be an https URL/);
});

test('invalid and missing variables are reported in one message', () => {
  const refusal = (): unknown =>
    readConfig({ NODE_ENV: 'production', PORT: 'x', MANDATE_SMTP_URL: 'smtp://mail.example', MANDATE_ROLE: 'web' });
  expect(refusal).toThrow(/^The configuration is not complete:\n {2}PORT (.|\n)*MANDATE_SECRET must be set/);
  for (const name of ['MANDATE_MAIL_FROM', 'MANDATE_ISSUER', 'MANDATE_ROLE']) expect(refusal).toThrow(`  ${name} must be`);
});

test('a variable is not reported merely because another variable is invalid', () => {
  const refusal = (): unknown =>
    readConfig({ MANDATE_ROLE: 'web', DATABASE_URL: 'mysql://localhost', MANDATE_SMTP_URL: 'mail', MANDATE_MAIL_FROM: 'a@b.example' });
  expect(refusal).toThrow(/^The configuration is not complete:\n {2}DATABASE_URL .*\n {2}MANDATE_SMTP_URL .*$/);
});

test('production is accepted with a secret and an https issuer', () => {
  const config = readConfig({ NODE_ENV: 'production', MANDATE_SECRET: secret, MANDATE_ISSUER: 'https://shop.example/' });
  expect(config).toMatchObject({ production: true, issuer: 'https://shop.example', secret });
});

test('an issuer with a path is accepted', () => {
  expect(readConfig({ MANDATE_ISSUER: 'https://example.com/shop/' })).toMatchObject({ issuer: 'https://example.com/shop' });
});

test.each([
  ['NODE_ENV', 'prod'],
  ['PORT', '0'],
  ['PORT', '65536'],
  ['PORT', '3000x'],
  ['MANDATE_ISSUER', 'shop.example'],
  ['MANDATE_ISSUER', 'https://shop.example/mandate?x=hunter2'],
  ['MANDATE_ISSUER', 'https://shop.example//mandate'],
  ['MANDATE_ISSUER', 'https://hunter2@shop.example'],
  ['MANDATE_SECRET', 'hunter2'],
  ['DATABASE_URL', 'mysql://root:hunter2@localhost/shop'],
  ['NODE_ENV', 'hunter2'],
  ['MANDATE_TAX_MODE', 'hunter2'],
  ['MANDATE_TEST_PAYMENTS', 'hunter2'],
  ['MANDATE_PREVIEW_VERSIONS', 'hunter2'],
  ['MANDATE_OPEN_REGISTRATION', 'hunter2'],
  ['STRIPE_SECRET_KEY', 'hunter2'],
  ['STRIPE_SECRET_KEY', 'sk_live_hunter2'],
  ['STRIPE_WEBHOOK_SECRET', 'whsec_hunter2'],
  ['MANDATE_ADMIN_EMAIL', 'ada@example.com'],
  ['MANDATE_ADMIN_PASSWORD', 'hunter2'],
  ['MANDATE_SMTP_URL', 'https://hunter2@mail.example'],
  ['MANDATE_SMTP_URL', 'smtp://shop:hunter2@mail.example'],
  ['MANDATE_MAIL_FROM', 'hunter2'],
  ['MANDATE_TRUST_PROXY', 'hunter2'],
  ['MANDATE_REFRESH_GRACE_SECONDS', 'hunter2'],
  ['MANDATE_REFRESH_GRACE_SECONDS', '-1'],
  ['MANDATE_REFRESH_GRACE_SECONDS', '301'],
])('%s=%s is rejected without its value in the message', (name, value) => {
  const refusal = (): unknown => readConfig({ [name]: value });
  expect(refusal).toThrow(/MANDATE_|STRIPE_|PORT|NODE_ENV|DATABASE_URL/);
  expect(refusal).not.toThrow('hunter2');
});

test.each([
  [undefined, 30],
  ['0', 0],
  ['300', 300],
])('the refresh token grace period is read in seconds: %s', (given, seconds) => {
  expect(readConfig({ MANDATE_REFRESH_GRACE_SECONDS: given }).refreshGraceSeconds).toBe(seconds);
});

test('the test payment provider is enabled only outside production by default', () => {
  expect(readConfig(production).payments.test).toBe(false);
  expect(readConfig({ ...production, MANDATE_TEST_PAYMENTS: 'on' }).payments.test).toBe(true);
  expect(readConfig({ MANDATE_TEST_PAYMENTS: 'off' }).payments.test).toBe(false);
});

test('Stripe payments are enabled with both Stripe secrets', () => {
  const { payments } = readConfig({ STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' });
  expect(payments.stripe).toEqual({ secretKey: 'sk_test_1', webhookSecret: 'whsec_1' });
});

test.each([
  ['0', false],
  ['2', 2],
  ['10.0.0.0/8, 127.0.0.1', '10.0.0.0/8, 127.0.0.1'],
])('the trusted proxies are read from MANDATE_TRUST_PROXY: %s', (given, trustProxy) => {
  expect(readConfig({ MANDATE_TRUST_PROXY: given })).toMatchObject({ trustProxy });
});

test('mail is configured with a server URL and a sender address', () => {
  const env = { MANDATE_SMTP_URL: 'smtps://shop:secret@mail.example', MANDATE_MAIL_FROM: 'Northgate Gifts <shop@example.com>' };
  expect(readConfig(env).mail).toEqual({ smtpUrl: env.MANDATE_SMTP_URL, from: env.MANDATE_MAIL_FROM });
});

const production = { NODE_ENV: 'production', MANDATE_SECRET: secret, MANDATE_ISSUER: 'https://shop.example' };

test.each([
  { HOST: '127.0.0.1' },
  { HOST: '127.1.2.3' },
  { HOST: '::1' },
  { HOST: 'localhost' },
  { HOST: '0.0.0.0', MANDATE_TRUST_PROXY: '1' },
  { HOST: '::', MANDATE_TRUST_PROXY: '10.0.0.0/8' },
  { HOST: '0.0.0.0', MANDATE_ROLE: 'worker', DATABASE_URL: 'postgres://db.example/shop' },
])('production is accepted on %j', (env) => {
  expect(readConfig({ ...production, ...env }).http.host).toBe(env.HOST);
});

test.each(['0.0.0.0', '::', '192.168.1.7', 'shop.example', '127.0.0.1.example'])(
  'production on %s without TLS or a proxy is rejected with a solution',
  (host) => {
    const refusal = (): unknown => readConfig({ ...production, HOST: host });
    expect(refusal).toThrow(/HOST must be .* MANDATE_TLS_CERT and MANDATE_TLS_KEY.*MANDATE_TRUST_PROXY/);
    expect(readConfig({ HOST: host }).production).toBe(false);
  },
);

test.each([
  [{ MANDATE_METRICS_PORT: '3000' }, 'MANDATE_METRICS_PORT must be a different port from PORT'],
  [{ MANDATE_ROLE: 'worker' }, 'MANDATE_ROLE must be all without DATABASE_URL'],
  [{ MANDATE_ROLE: 'hunter2' }, 'MANDATE_ROLE must be all or web or worker'],
  [{ DATABASE_REPLICA_URL: 'postgres://db.example/shop' }, 'DATABASE_REPLICA_URL requires DATABASE_URL'],
  [{ DATABASE_DIRECT_URL: 'postgres://db.example/shop' }, 'DATABASE_DIRECT_URL requires DATABASE_URL'],
  [{ DATABASE_PREPARED_STATEMENTS: 'hunter2' }, 'DATABASE_PREPARED_STATEMENTS must be on or off'],
  [{ DATABASE_START_TIMEOUT: '1m' }, 'DATABASE_START_TIMEOUT must be a number of seconds'],
  [{ MANDATE_TLS_CERT: '/nowhere/tls.crt' }, 'MANDATE_TLS_KEY must be set too'],
  [
    { MANDATE_TLS_CERT: '/nowhere/tls.crt', MANDATE_TLS_KEY: '/nowhere/tls.key' },
    'MANDATE_TLS_CERT must be a file that can be read (ENOENT)',
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL'],
])('%j is rejected', (env, message) => {
  expect(() => readConfig(env)).toThrow(message);
});

describe('secrets in files', () => {
  test('are read without the final newline', async () => {
    await using directory = await createDataDirectory();
    const path = join(directory.path, 'secret');
    await writeFile(path, `${secret}\n`);
    expect(readConfig({ MANDATE_SECRET_FILE: path }).secret).toBe(secret);
  });

  test('are rejected in one message if the variable is also set, the file is unreadable, or its content is invalid', async () => {
    await using directory = await createDataDirectory();
    const [bad, empty] = [join(directory.path, 'bad'), join(directory.path, 'empty')];
    await writeFile(bad, 'mysql://root:hunter2@localhost/shop');
    await writeFile(empty, '\n');
    const refusal = (): unknown =>
      readConfig({
        NODE_ENV: 'production',
        MANDATE_ISSUER: 'https://shop.example',
        MANDATE_SECRET_FILE: join(directory.path, 'missing'),
        MANDATE_SMTP_URL: 'smtp://mail.example',
        MANDATE_SMTP_URL_FILE: bad,
        DATABASE_URL_FILE: bad,
        REDIS_URL_FILE: empty,
      });
    expect(refusal).toThrow(/MANDATE_SECRET_FILE refers to a file that cannot be read \(ENOENT\)/);
    expect(refusal).toThrow(/REDIS_URL_FILE refers to an empty file/);
    expect(refusal).toThrow(/MANDATE_SMTP_URL_FILE cannot be set together with MANDATE_SMTP_URL/);
    expect(refusal).toThrow(/DATABASE_URL must begin with postgres:/);
    expect(refusal).not.toThrow(/hunter2|MANDATE_SECRET must be set/);
  });
});

test('TLS is enabled with a certificate and its matching key only', async () => {
  await using directory = await createDataDirectory();
  const [certFile, keyFile] = [join(directory.path, 'tls.crt'), join(directory.path, 'tls.key')];
  const env = { MANDATE_TLS_CERT: certFile, MANDATE_TLS_KEY: keyFile, HOST: '0.0.0.0' };
  const { cert, key } = createSelfSignedCertificate();
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  expect(readConfig({ ...production, ...env }).tls).toEqual({ certFile, keyFile });
  expect(readConfig(env).issuer).toBe('https://localhost:3000');
  const onlyMissing = (name: string): RegExp =>
    new RegExp(`^The configuration is not complete:\n {2}${name} must be set too: TLS needs both$`);
  expect(() => readConfig({ MANDATE_TLS_CERT: certFile })).toThrow(onlyMissing('MANDATE_TLS_KEY'));
  expect(() => readConfig({ MANDATE_TLS_KEY: keyFile })).toThrow(onlyMissing('MANDATE_TLS_CERT'));
  await writeFile(keyFile, createSelfSignedCertificate().key);
  expect(() => readConfig(env)).toThrow('MANDATE_TLS_KEY must be the private key of the certificate');
  await writeFile(keyFile, 'hunter2');
  expect(() => readConfig(env)).toThrow('MANDATE_TLS_KEY must be a private key in PEM form');
  await writeFile(certFile, key);
  expect(() => readConfig(env)).toThrow('MANDATE_TLS_CERT must be a certificate in PEM form');
});

test('different keys are derived for each purpose and each secret', () => {
  const keys = [deriveKeys(secret), deriveKeys('b'.repeat(43))].flatMap((derived) => Object.values(derived));
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(keys.length);
});

test('processes that start concurrently share one secret file, which only its owner can read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-secret-'));
  const secrets = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateServerSecret(directory)));
  expect(new Set(secrets).size).toBe(1);
  expect(secrets[0]).toBe(await readFile(join(directory, 'secret'), 'utf8'));
  expect((await stat(join(directory, 'secret'))).mode & 0o777).toBe(0o600);
  await rm(directory, { recursive: true });
});
