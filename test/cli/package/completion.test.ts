import { execFile } from 'node:child_process';
import { access, chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { findAndFormatCompletionCandidates } from '../../../cli/completion/find-and-render-completions.ts';
import { renderCompletionTreeSource } from '../../../cli/build/render-completion-tree-source.ts';
import { createConfigDirectory, runInProcess, spawnCommand } from '../run-command-line.ts';

const run = promisify(execFile);
const values = (...words: string[]): string[] =>
  findAndFormatCompletionCandidates('fish', words, ['default', 'work'])
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0] ?? '');

describe('completion', () => {
  test('is up to date with the commands', async () => {
    expect(await readFile(new URL('../../../cli/completion/completion.gen.ts', import.meta.url), 'utf8')).toBe(
      await renderCompletionTreeSource(),
    );
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
  ])('of %j suggests %j', (words, expected) => expect(values(...words)).toEqual(expected));

  test('does not suggest a flag twice unless it is repeatable', () => {
    expect(values('orders', 'list', '--limit', '5', '--limi')).toEqual([]);
    expect(values('orders', 'list', '--status', 'paid', '--statu')).toEqual(['--status']);
  });

  test('exits with code 0 for any input, without network access', async () => {
    for (const words of [[], ['bash'], ['bash', ''], ['tcsh', 'x', '--', '-'], ['zsh', '--status=']]) {
      expect(await spawnCommand(['__complete', ...words], { MANDATE_CONFIG_DIR: '/nowhere' }).exited).toMatchObject({
        exitCode: 0,
        stderr: '',
      });
    }
  });

  test('includes descriptions in zsh', async () => {
    expect((await spawnCommand(['__complete', 'zsh', 'orders', 'canc']).exited).stdout).toMatch(/^cancel:\S/);
  });
});

/** Creates a directory that contains an executable `mandate`, for use on the `PATH`. */
async function installed() {
  const directory = await createConfigDirectory();
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

/** Returns bash's completions for the given words, by calling the completion function as bash does. */
async function completeInBash(words: readonly string[], mark: string): Promise<string[]> {
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
  test('completes without the bash-completion package', async () => {
    expect(await completeInBash(['orders', 'canc'], '')).toEqual(['cancel']);
    expect(await completeInBash(['orders', 'list', '--status', '=', 'pe'], '')).toEqual(['pending']);
  });

  test('does not execute the input', async () => {
    await using directory = await createConfigDirectory();
    const mark = join(directory.path, 'pwned');
    await completeInBash(['orders', 'list', '--cursor', `$(touch ${mark})`, '`touch $MARK`', '--s'], mark);
    expect(await exists(mark)).toBe(false);
  });
});

const shells = await Promise.all((['zsh', 'fish'] as const).map(async (shell) => ({ shell, there: await exists(`/usr/bin/${shell}`) })));
const hasShell = (name: string): boolean => shells.some(({ shell, there }) => shell === name && there);

describe.skipIf(!hasShell('fish'))('in fish', () => {
  test('completes and does not execute the input', async () => {
    await using at = await installed();
    const mark = join(at.path, 'pwned');
    const script = `mandate completion fish | source; complete --do-complete 'mandate orders canc'; complete --do-complete 'mandate orders list --cursor "(touch ${mark})" --stat'`;
    const { stdout } = await run('fish', ['--no-config', '-c', script], { env: { PATH: at.PATH, HOME: at.path }, timeout: 15_000 });
    expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(['cancel', '--status', '']);
    expect(await exists(mark)).toBe(false);
  });
});

describe('the completion scripts', () => {
  test.each(['bash', 'zsh', 'fish', 'powershell'])('for %s evaluate no input', async (shell) => {
    const { exitCode, stdout } = await runInProcess(['completion', shell]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('mandate __complete');
    expect(stdout).not.toMatch(/\beval\b|Invoke-Expression/);
  });

  test.skipIf(!hasShell('zsh'))('for zsh can be loaded', async () => {
    const { stdout } = await runInProcess(['completion', 'zsh']);
    const script = `autoload -U compinit; compinit -u -D; ${stdout}; print $_comps[mandate]`;
    expect((await run('zsh', ['-f', '-c', script], { timeout: 15_000 })).stdout).toBe('_mandate\n');
  });

  test('are rejected for an unknown shell', async () => {
    expect(await runInProcess(['completion', 'tcsh'])).toMatchObject({ exitCode: 2, stdout: '' });
  });
});
