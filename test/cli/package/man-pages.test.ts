import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeManPages } from '../../../cli/build/write-man-pages.ts';
import { runInProcess } from '../run-command-line.ts';

const run = promisify(execFile);
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mandate-man-'));
  await writeManPages(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const leaves: { command: string; flags: string[] }[] = JSON.parse((await runInProcess(['commands', '--json'])).stdout);

test('there is a man page for the program, each group and each command', async () => {
  const groups = leaves.flatMap(({ command }) => (command.includes(' ') ? [command.split(' ')[0] ?? ''] : []));
  const expected = [
    'mandate',
    ...new Set([...groups, ...leaves.map(({ command }) => command)].map((words) => `mandate-${words.replaceAll(' ', '-')}`)),
  ];
  expect((await readdir(directory)).toSorted()).toEqual(expected.map((name) => `${name}.1`).toSorted());
});

test('each man page lists every flag of its command', async () => {
  for (const { command, flags } of leaves) {
    const page = (await readFile(join(directory, `mandate-${command.replaceAll(' ', '-')}.1`), 'utf8')).replaceAll('\\-', '-');
    for (const flag of flags) expect(page, command).toContain(flag);
  }
});

test('mandate help --man prints the same man page', async () => {
  const { stdout } = await runInProcess(['help', 'order', 'pay', '--man']);
  expect(stdout).toBe(await readFile(join(directory, 'mandate-orders-pay.1'), 'utf8'));
});

describe.skipIf(!existsSync('/usr/bin/man'))('man', () => {
  test('shows all man pages without warnings', async () => {
    const files = (await readdir(directory)).map((file) => join(directory, file));
    const { stderr } = await run('man', ['--warnings', '-E', 'UTF-8', '-l', ...files], {
      maxBuffer: 50_000_000,
      env: { PATH: '/usr/bin:/bin', MANPAGER: 'cat', MANWIDTH: '80' },
    });
    expect(stderr).toBe('');
  }, 90_000);

  test('shows hyphens and backslashes unchanged', async () => {
    const { stdout } = await run('man', ['-E', 'ascii', '-l', join(directory, 'mandate.1')], {
      env: { PATH: '/usr/bin:/bin', MANPAGER: 'cat', MANWIDTH: '200' },
    });
    expect(stdout).toContain('%APPDATA%\\mandate');
    expect(stdout).toMatch(/EXIT CODES/);
    expect(stdout).toContain('--profile');
  });
});
