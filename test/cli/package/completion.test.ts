import { execFile } from 'node:child_process';
import { access, chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { completionLines } from '../../../cli/completion/completion-candidates.ts';
import { generatedCompletion } from '../../../cli/build/generate-completion.ts';
import { configDirectory, runHere, start } from '../command-line.ts';

const run = promisify(execFile);
const values = (...words: string[]): string[] =>
  completionLines('fish', words, ['default', 'work'])
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0] ?? '');

describe('completion', () => {
  test('knows the commands there are now', async () => {
    expect(await readFile(new URL('../../../cli/completion/completion.gen.ts', import.meta.url), 'utf8')).toBe(await generatedCompletion());
  });

  test.each([
    [['log'], ['login', 'logout']],
    [['orders', 'pa'], ['pay']],
    [['orders', 'list', '--stat'], ['--status']],
    [
      ['orders', 'list', '--status', 'p'],
      ['pending', 'paid'],
    ],
    [
      ['orders', 'list', '--status=p'],
      ['--status=pending', '--status=paid'],
    ],
    [
      ['-p', ''],
      ['default', 'work'],
    ],
    [['orders', 'list', '--profile', 'w'], ['work']],
    [['--profile', 'work', 'orders', 'canc'], ['cancel']],
    [['completion', 'p'], ['powershell']],
    [['orders', 'export', '-o', ''], []],
    [['orders', 'watch', '42', '--until', 's'], ['shipped']],
    [['nonsense', ''], expect.arrayContaining(['login', 'orders'])],
  ])('of %j offers %j', (words, expected) => expect(values(...words)).toEqual(expected));

  test('does not offer a flag twice, unless it can be repeated', () => {
    expect(values('orders', 'list', '--limit', '5', '--limi')).toEqual([]);
    expect(values('orders', 'list', '--status', 'paid', '--statu')).toEqual(['--status']);
  });

  test('as a process answers whatever is asked, with exit code 0 and no network', async () => {
    for (const words of [[], ['bash'], ['bash', ''], ['tcsh', 'x', '--', '-'], ['zsh', '--status=']]) {
      expect(await start(['__complete', ...words], { MANDATE_CONFIG_DIR: '/nowhere' }).ended).toMatchObject({ exitCode: 0, stderr: '' });
    }
  });

  test('in zsh says what each word means', async () => {
    expect((await start(['__complete', 'zsh', 'orders', 'canc']).ended).stdout).toMatch(/^cancel:\S/);
  });
});

/** A directory with `mandate` in it, as an installation would put it on the PATH. */
async function installed() {
  const directory = await configDirectory();
  const command = join(directory.path, 'mandate');
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, '../../../cli/main.ts')}' "$@"\n`);
  await chmod(command, 0o755);
  return { ...directory, [Symbol.asyncDispose]: directory[Symbol.asyncDispose], PATH: `${directory.path}:/usr/bin:/bin` };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** What bash would offer for these words, the way it calls the function. */
async function inBash(words: readonly string[], mark: string): Promise<string[]> {
  await using at = await installed();
  const script = `
    eval "$(mandate completion bash)"; eval "$(mandate completion bash)"
    COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
    _mandate
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await run('bash', ['--norc', '-c', script, 'bash', 'mandate', ...words], {
    env: { PATH: at.PATH, MARK: mark },
    timeout: 15_000,
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

describe('in bash', () => {
  test('completes without anything else installed', async () => {
    expect(await inBash(['orders', 'canc'], '')).toEqual(['cancel']);
    expect(await inBash(['orders', 'list', '--status', '=', 'pe'], '')).toEqual(['pending']);
  });

  test('runs nothing of what was typed', async () => {
    await using directory = await configDirectory();
    const mark = join(directory.path, 'pwned');
    await inBash(['orders', 'list', '--cursor', `$(touch ${mark})`, '`touch $MARK`', '--s'], mark);
    expect(await exists(mark)).toBe(false);
  });
});

const shells = await Promise.all((['zsh', 'fish'] as const).map(async (shell) => ({ shell, there: await exists(`/usr/bin/${shell}`) })));
const hasShell = (name: string): boolean => shells.some(({ shell, there }) => shell === name && there);

describe.skipIf(!hasShell('fish'))('in fish', () => {
  test('completes, and runs nothing of what was typed', async () => {
    await using at = await installed();
    const mark = join(at.path, 'pwned');
    const script = `mandate completion fish | source; complete --do-complete 'mandate orders canc'; complete --do-complete 'mandate orders list --cursor "(touch ${mark})" --stat'`;
    const { stdout } = await run('fish', ['--no-config', '-c', script], { env: { PATH: at.PATH, HOME: at.path }, timeout: 15_000 });
    expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(['cancel', '--status', '']);
    expect(await exists(mark)).toBe(false);
  });
});

describe('the scripts', () => {
  test.each(['bash', 'zsh', 'fish', 'powershell'])('for %s evaluates nothing', async (shell) => {
    const { exitCode, stdout } = await runHere(['completion', shell]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('mandate __complete');
    expect(stdout).not.toMatch(/\beval\b|Invoke-Expression/);
  });

  test.skipIf(!hasShell('zsh'))('for zsh is one that zsh can read', async () => {
    const { stdout } = await runHere(['completion', 'zsh']);
    const script = `autoload -U compinit; compinit -u -D; ${stdout}; print $_comps[mandate]`;
    expect((await run('zsh', ['-f', '-c', script], { timeout: 15_000 })).stdout).toBe('_mandate\n');
  });

  test('for another shell is refused', async () => {
    expect(await runHere(['completion', 'tcsh'])).toMatchObject({ exitCode: 2, stdout: '' });
  });
});
