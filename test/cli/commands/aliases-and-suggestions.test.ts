import { describe, expect, test } from 'vitest';
import { handwrittenCommandNamesByOperation } from '../../../cli/contract-commands/handwritten-command-names.ts';
import { findCompletionCandidates } from '../../../cli/completion/find-and-render-completions.ts';
import { commandSpecs } from '../../../cli/contract-commands/commands.gen.ts';
import { runInProcess } from '../run-command-line.ts';

const printed = async (...argv: string[]): Promise<unknown> => {
  const { exitCode, stdout, stderr } = await runInProcess([...argv, '--print-request']);
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout);
};
const hintFor = async (...argv: string[]): Promise<string> => {
  const { exitCode, stderr } = await runInProcess(argv);
  expect(exitCode).toBe(2);
  return /^hint: (.*)$/m.exec(stderr)?.[1] ?? '';
};

const groups = [
  ...new Set(commandSpecs.flatMap(({ operationId, group }) => (operationId in handwrittenCommandNamesByOperation ? [] : [group]))),
];

describe('aliases', () => {
  test.each([
    [
      ['orders', 'ls'],
      ['orders', 'list'],
    ],
    [
      ['order', 'ls'],
      ['orders', 'list'],
    ],
    [
      ['order', 'get', '7'],
      ['orders', 'get', '7'],
    ],
    [
      ['product', 'rm', '7'],
      ['products', 'delete', '7'],
    ],
    [
      ['api-key', 'rm', '7'],
      ['api-keys', 'revoke', '7'],
    ],
    [
      ['connected-app', 'rm', '7'],
      ['connected-apps', 'remove', '7'],
    ],
    [
      ['delivery-method', 'ls'],
      ['delivery-methods', 'list'],
    ],
    [
      ['--json', 'order', 'ls'],
      ['orders', 'list'],
    ],
  ])('%j is an alias of %j', async (alias, command) => {
    expect(await printed(...alias)).toEqual(await printed(...command));
  });

  test.each(groups.filter((group) => group.endsWith('s')))('accepts the singular of %s and shows both names in its help', async (group) => {
    const singular = group.replace(/ies$/, 'ys').slice(0, -1);
    const { exitCode, stdout } = await runInProcess([singular]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: mandate ${group}\\|${singular} `));
  });

  test('work for help and handwritten commands', async () => {
    expect((await runInProcess(['help', 'order', 'ls'])).stdout).toContain('Usage: mandate orders list');
    expect((await runInProcess(['order', 'pay', '--help'])).stdout).toContain('Usage: mandate orders pay');
    expect((await runInProcess(['profile', 'rm', '--help'])).stdout).toContain('Usage: mandate profile delete');
  });

  test('are understood by shell completion', () => {
    expect(findCompletionCandidates(['order', 'canc'], []).map(({ value }) => value)).toEqual(['cancel']);
    expect(findCompletionCandidates(['orders', 'ls', '--stat'], []).map(({ value }) => value)).toContain('--status');
  });
});

test.each(groups)('%s has a one-line description', async (group) => {
  const { stdout } = await runInProcess([group]);
  expect(stdout).toMatch(/^Usage: .*\n\n[A-Z].+\n\nOptions:/);
});

describe('suggestions for misspelled input', () => {
  test.each([
    [['oders'], 'Did you mean orders?'],
    [['orders', 'lisst'], 'Did you mean mandate orders list?'],
    [['orders', 'creat'], 'Did you mean mandate orders create?'],
    [['order', 'payy'], 'Did you mean mandate orders pay?'],
    [['help', 'oders'], 'Did you mean mandate orders?'],
    [['help', 'exit-code'], 'Did you mean mandate help exit-codes?'],
    [['orders', 'list', '--stats', 'paid'], 'Did you mean --status?'],
    [['orders', 'list', '--fields', 'totl'], 'Did you mean total?'],
    [['docs', 'orders', 'creat'], 'Did you mean mandate docs orders create?'],
  ])('%j', async (argv, hint) => {
    expect(await hintFor(...argv)).toBe(hint);
  });

  test('list all commands if no command is similar', async () => {
    expect(await hintFor('orders', 'xyzzyxyzzy')).toMatch(/^Available commands: create, list, get, /);
  });
});
