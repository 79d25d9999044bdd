import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { signIn } from '../support/oauth/oauth-flow.ts';
import { shellCommandLine, runMandateServer } from '../support/server/server-command.ts';
import { createMigratedDataDirectory } from '../support/server/migrated-data-directory.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../support/server/server-process.ts';

afterEach(killServerProcesses);
const run = promisify(execFile);

const [email, password] = ['ada@example.com', 'correct horse battery'];
const create = ['admin', 'create', '--email', email];

describe('mandate-server admin create', { timeout: 180_000 }, () => {
  test('creates an administrator who can sign in with the password from standard input', async () => {
    await using data = await createDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path };
    expect(await runMandateServer(env, [...create, '--name', 'Ada'], `${password}\n`)).toEqual({
      code: 0,
      stdout: `User 1 (${email}) is now an administrator.\n`,
      stderr: '',
    });
    const duplicate = await runMandateServer(env, create, password);
    expect([duplicate.code, duplicate.stderr]).toEqual([1, expect.stringContaining('an account with this address already exists')]);

    const server = await startServerProcess(env);
    expect(server.output()).not.toContain('no administrator');
    const browser = await signIn(server.url, { email, password });
    expect((await browser.open('/account')).text).toContain('Ada');
    const whileRunning = await runMandateServer(env, ['admin', 'create', '--email', 'bob@example.com'], password);
    expect([whileRunning.code, whileRunning.stderr]).toEqual([
      1,
      expect.stringContaining('Stop the server first, or ask an administrator'),
    ]);
    await server.stop();
  });

  test.each([
    ['short', 'at least 12 characters'],
    ['', 'at least 12 characters'],
    [email, 'that is not your e-mail address'],
  ])('rejects the password "%s" and creates no database', async (invalidPassword, reason) => {
    await using data = await createDataDirectory();
    const { code, stderr } = await runMandateServer({ MANDATE_DATA_DIR: join(data.path, 'new') }, create, `${invalidPassword}\n`);
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(existsSync(join(data.path, 'new'))).toBe(false);
  });

  test.skipIf(!existsSync('/usr/bin/script'))(
    'prompts twice for the password at a terminal and does not display the password',
    async () => {
      await using data = await createMigratedDataDirectory();
      const typeInTerminal = async (inputs: readonly string[]): Promise<string> => {
        // types only after each prompt, because the terminal echoes input that arrives earlier
        const keys = inputs.map(
          (text, nth) =>
            `until [ "$(grep -aoE 'Password:|Once more:' '${data.path}/shown' | wc -l)" -gt ${nth} ]; do sleep 0.1; done; sleep 0.3; printf '${text}'`,
        );
        const script = `(${keys.join('; ')}; sleep 1) | timeout 60 script -qefc "${shellCommandLine(create)}" '${data.path}/shown'; echo "ended with $?"`;
        const { stdout } = await run('sh', ['-c', `: > '${data.path}/shown'; ${script}`], {
          env: { PATH: '/usr/bin:/bin', TERM: 'xterm', SHELL: '/bin/sh', MANDATE_DATA_DIR: data.path },
        });
        return stdout;
      };
      const different = await typeInTerminal([`${password}\\r`, 'something else\\r']);
      expect(different).toContain('the passwords do not match');
      const interrupted = await typeInTerminal(['cor\\003']);
      expect(interrupted).toContain('interrupted: no account was created');
      expect(interrupted).toContain('ended with 130');
      const created = await typeInTerminal([`${password}\\r`, `${password}\\r`]);
      expect(created).toContain(`User 1 (${email}) is now an administrator.`);
      expect(created).toContain('ended with 0');
      expect(created, 'the next output starts on a new line').toMatch(/Password: \r?\nOnce more: \r?\n/);
      expect(different + interrupted + created).not.toMatch(/correct|battery|something/);
    },
  );
});
