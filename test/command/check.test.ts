import { describe, expect, test } from 'vitest';
import { databaseKind, createEmptyPostgresqlUrl } from '../support/services/database.ts';
import { openMailServer } from '../support/services/mail-server.ts';
import { hasPgBouncer, startPgBouncer, supportsPreparedStatements } from '../support/services/pgbouncer.ts';
import { hasRedis, startRedis } from '../support/services/redis-server.ts';
import { runMandateServer } from '../support/server/server-command.ts';
import { createDataDirectory } from '../support/server/server-process.ts';

/** Returns each line's result and subject, such as `ok database`. */
const outcomes = (stdout: string): string[] =>
  stdout
    .split('\n')
    .filter((line) => /^(ok|failed) /.test(line))
    .map((line) => line.split(/ +/).slice(0, 2).join(' '));

const unreachableUrl = 'postgres://mandate:hunter2@127.0.0.1:1/mandate';

describe('mandate-server check', { timeout: 180_000 }, () => {
  test('lists all configuration errors', async () => {
    const { code, stdout } = await runMandateServer({ NODE_ENV: 'production', REDIS_URL: 'hunter2' }, ['check']);
    expect([code, outcomes(stdout)]).toEqual([1, ['failed configuration']]);
    for (const name of ['MANDATE_SECRET', 'MANDATE_ISSUER', 'REDIS_URL']) expect(stdout).toContain(`  ${name} must be`);
    expect(stdout).not.toContain('hunter2');
  });

  test.skipIf(databaseKind === 'pglite' || !hasRedis)('reports every working and every failing service', async () => {
    await using mail = await openMailServer();
    const [url, redis] = [await createEmptyPostgresqlUrl(), await startRedis()];
    const secret = 'a'.repeat(43);
    const smtpUrl = `smtp://shop:${encodeURIComponent(mail.password)}@127.0.0.1:${mail.port}`;
    const validEnv = {
      DATABASE_URL: url,
      MANDATE_SECRET: secret,
      REDIS_URL: redis.url,
      MANDATE_SMTP_URL: smtpUrl,
      MANDATE_MAIL_FROM: 'shop@example.com',
    };
    const empty = await runMandateServer(validEnv, ['check']);
    expect([empty.code, outcomes(empty.stdout)]).toEqual([
      0,
      ['ok configuration', 'ok database', 'ok migrations', 'ok replica', 'ok redis', 'ok mail'],
    ]);
    expect(empty.stdout).toMatch(/0 applied, \d+ pending, which `mandate-server migrate` or the next start applies/);

    expect((await runMandateServer(validEnv, ['keys', 'rotate'])).code).toBe(0);
    const all = ['ok configuration', 'ok database', 'ok migrations', 'ok secret', 'ok administrator', 'ok replica', 'ok redis', 'ok mail'];
    const initialized = await runMandateServer(validEnv, ['check']);
    expect([initialized.code, outcomes(initialized.stdout), initialized.stderr]).toEqual([0, all, '']);

    const wrongSecrets = await runMandateServer(
      { ...validEnv, MANDATE_SECRET: 'b'.repeat(43), MANDATE_SMTP_URL: smtpUrl.replace('shop:', 'nobody:') },
      ['check'],
    );
    const failures = all.map((line) => line.replace('ok secret', 'failed secret').replace('ok mail', 'failed mail'));
    expect([wrongSecrets.code, outcomes(wrongSecrets.stdout)]).toEqual([1, failures]);
    expect(wrongSecrets.stdout).toContain('encrypted with another secret');

    await redis.kill();
    const unreachable = await runMandateServer(
      { ...validEnv, DATABASE_URL: unreachableUrl, DATABASE_REPLICA_URL: url, MANDATE_SMTP_URL: 'smtp://127.0.0.1:1' },
      ['check'],
    );
    expect([unreachable.code, outcomes(unreachable.stdout)]).toEqual([
      1,
      ['ok configuration', 'failed database', 'failed replica', 'failed redis', 'failed mail'],
    ]);
    expect(unreachable.stdout).toContain('it is not a replica');
    expect(unreachable.stdout).not.toMatch(/hunter2|at .*\.ts:/);
  });

  test.skipIf(databaseKind === 'pglite' || !hasPgBouncer)('reports a connection pooler and the setting that it requires', async () => {
    await using bouncer = await startPgBouncer(await createEmptyPostgresqlUrl(), {
      pool_mode: 'transaction',
      ...(supportsPreparedStatements && { max_prepared_statements: 0 }),
    });
    const failed = await runMandateServer({ DATABASE_URL: bouncer.url }, ['check']);
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringMatching(/^failed {2}database .*set DATABASE_PREPARED_STATEMENTS=off/m)]);
    const works = await runMandateServer({ DATABASE_URL: bouncer.url, DATABASE_PREPARED_STATEMENTS: 'off' }, ['check']);
    expect([works.code, works.stdout]).toEqual([0, expect.stringMatching(/^ok {6}database .*, through a connection pooler$/m)]);
  });

  test('reports a missing installation without creating files', async () => {
    await using data = await createDataDirectory();
    const path = `${data.path}/later`;
    const { code, stdout } = await runMandateServer({ MANDATE_DATA_DIR: path }, ['check']);
    expect([code, outcomes(stdout)]).toEqual([0, ['ok configuration', 'ok database', 'ok replica', 'ok redis', 'ok mail']]);
    expect(stdout).toContain(`embedded; the first start creates it at ${path}`);
    const second = await runMandateServer({ MANDATE_DATA_DIR: path, MANDATE_BACKUP_DIR: path }, ['check']);
    expect([second.code, second.stdout]).toEqual([1, expect.stringMatching(/^failed {2}backups .*ENOENT.*MANDATE_BACKUP_DIR/m)]);
    expect(second.stdout).toContain(stdout);
  });
});
