/** Runs every `mandate` command of docs/moving-your-shop.md, in order, with files in the formats of the other systems. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scopeNames } from '@mandate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCodeBlocks } from '../support/markdown.ts';
import { isAccountPage, submitPassword } from '../support/oauth/sign-in-attempts.ts';
import { runPendingTasks } from '../support/shop/run-tasks.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { runInProcess } from '../cli/run-command-line.ts';

const shop = withShop();
const administrator = shop.admin(scopeNames);
const password = 'correct horse Bätterie staple';

const commands = (await readCodeBlocks('docs/moving-your-shop.md'))
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.split('\n'))
  .filter((line) => line.startsWith('mandate ') && !line.startsWith('mandate login'));

let directory: string;
let runner: NodeJS.Timeout;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mandate-moving-'));
  let isRunning = false;
  runner = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    void runPendingTasks(shop).finally(() => (isRunning = false));
  }, 100);
});
afterAll(async () => {
  clearInterval(runner);
  await rm(directory, { recursive: true });
});

/**
 * Splits a command into words; quoted words may contain spaces. Replaces the names of input files with those of test files, and the names
 * of output files with temporary files.
 */
const toArguments = (command: string): string[] =>
  Array.from(command.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word = '']) => quoted ?? word)
    .slice(1)
    .map((word, at, words) =>
      /^\w[\w-]*\.csv$/.test(word)
        ? words[at - 1] === '--output'
          ? join(directory, word)
          : join(import.meta.dirname, 'moving-your-shop', word)
        : word,
    );

const run = (command: string) =>
  runInProcess([...toArguments(command), '--interval', '100ms'], {
    env: { MANDATE_API_URL: shop.origin, MANDATE_TOKEN: administrator.token },
  });

test('the guide contains two imports for each system, and the exports', () => {
  const imports = ['users import', 'orders import'];
  const exports = ['users export', 'users export', 'users export', 'orders export', 'orders export'];
  expect(commands.map((command) => command.split(' ').slice(1, 3).join(' '))).toEqual([imports, imports, imports, imports, exports].flat());
});

describe('the commands run in order', { timeout: 60_000 }, () => {
  test.each(commands)('%s', async (command) => {
    const { exitCode, stderr } = await run(command);
    // Magento's file contains a customer who has accounts on two websites.
    const [expected, remark] = command.includes('magento-customers') ? [8, 'The file has the same e-mail address on line 3.'] : [0, ''];
    expect([exitCode, stderr]).toEqual([expected, expect.stringContaining(remark)]);
  });

  test('and orders belong to the imported customers', async () => {
    const owners = await shop.db.em
      .fork()
      .execute(
        'select o.reference, u.email from orders o join users u on u.id = o.user_id join imported_users i on i.user_id = u.id order by 1',
      );
    expect(owners).toEqual([
      { reference: '#1001', email: 'sara@example.com' },
      { reference: '000000042', email: 'mia@example.com' },
      { reference: '1', email: 'maren@example.com' },
      { reference: '501', email: 'walt@example.com' },
    ]);
  });

  test.each(['maren', 'walt', 'wanda', 'mia', 'max'])('and %s signs in with the previous password', async (name) => {
    expect(isAccountPage(await submitPassword(shop, { email: `${name}@example.com`, password }))).toBe(true);
  });

  test('and the exports contain the customers', async () => {
    const file = async (name: string): Promise<string> => readFile(join(directory, name), 'utf8');
    expect(await file('users.csv')).toContain('sara@example.com');
    expect(await file('users.csv')).not.toContain('argon2id');
    expect(await file('users-with-passwords.csv')).toContain('argon2id');
    expect(await file('consents.csv')).toContain('mandate-cli');
    expect(await file('order-lines.csv')).toContain('PRINT-B');
  });
});
