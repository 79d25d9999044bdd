import { afterEach, describe, expect, test } from 'vitest';
import { runMandateServer, serverProgram } from '../support/server/server-command.ts';
import { createDatabaseEnvironment } from '../support/services/database.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../support/server/server-process.ts';

afterEach(killServerProcesses);

describe('mandate-server', { timeout: 180_000 }, () => {
  test.each(['', 'start', 'check', 'migrate', 'keys', 'keys rotate', 'admin', 'admin create', 'backup', 'restore'])(
    '%s --help prints its description and exits without running',
    async (command) => {
      const { code, stdout, stderr } = await runMandateServer({ NODE_ENV: 'refused' }, [...command.split(' ').filter(Boolean), '--help']);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain(`Usage: mandate-server ${command}`.trim());
      expect(stdout).toMatch(/\n\n[A-Z][^\n]{10}/);
    },
  );

  test.each([
    ['nothing-of-the-kind', /unknown command 'nothing-of-the-kind'/],
    ['backup', /missing required argument 'file'/],
    ['restore one two', /too many arguments/],
    ['admin create', /required option '--email <address>' not specified/],
    ['keys rotate --at-onc', /unknown option '--at-onc'(.|\n)*Did you mean --at-once/],
    ['admin create --email nobody', /--email must be an e-mail address/],
  ])('%s exits with status 2 and prints the reason', async (line, reason) => {
    const { code, stdout, stderr } = await runMandateServer({}, line.split(' '));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(reason);
  });

  test.each(['migrate', 'backup x', 'restore x', 'keys rotate', 'admin create --email ann@example.com'])(
    '%s lists all configuration errors',
    async (line) => {
      const { code, stderr } = await runMandateServer({ NODE_ENV: 'production', PORT: 'x' }, line.split(' '));
      expect(code).toBe(1);
      for (const name of ['PORT', 'MANDATE_SECRET', 'MANDATE_ISSUER']) expect(stderr).toContain(`  ${name} must be`);
    },
  );

  test('start runs the server until SIGTERM', async () => {
    await using data = await createDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path, ...(await createDatabaseEnvironment()) };
    const server = await startServerProcess(env, [serverProgram, 'start']);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });
});
