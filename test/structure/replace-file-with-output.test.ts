import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mandate-output-'));
  file = join(directory, 'generated.json');
  await writeFile(file, 'before');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const replaceFile = (script: string) =>
  spawnSync(process.execPath, [join(root, 'replace-file-with-output.ts'), file, process.execPath, '-e', script], { encoding: 'utf8' });

test('a successful command replaces the file', async () => {
  expect(replaceFile(`process.stdout.write('after')`)).toMatchObject({ status: 0, stderr: '' });
  expect([await readFile(file, 'utf8'), await readdir(directory)]).toEqual(['after', ['generated.json']]);
});

test('a failed command does not change the file', async () => {
  const { status, stderr } = replaceFile(`process.stdout.write('half'); process.exitCode = 3`);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${file} was not changed`)]);
  expect([await readFile(file, 'utf8'), await readdir(directory)]).toEqual(['before', ['generated.json']]);
});

test.each([
  ['that prints nothing', '', 'printed nothing'],
  ['that is killed', `process.stdout.write('half', () => process.kill(process.pid, 'SIGKILL'))`, 'failed'],
])('a command %s does not change the file', async (_, script, reason) => {
  const { status, stderr } = replaceFile(script);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${file} was not changed, because this command ${reason}: `)]);
  expect([await readFile(file, 'utf8'), await readdir(directory)]).toEqual(['before', ['generated.json']]);
});

test('each workspace formats the files that it generates immediately, so that a later failure leaves no unformatted file', async () => {
  for (const workspace of ['client-sdk', 'cli']) {
    const { scripts } = JSON.parse(await readFile(join(root, workspace, 'package.json'), 'utf8'));
    expect(scripts.generate).toMatch(/^node [\w/-]+\.ts && oxfmt [\w/.-]+$/);
  }
});

test('no script redirects its output to a committed file', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const redirected = Object.values<string>(scripts).flatMap((script) => Array.from(script.matchAll(/> ([\w./-]+)/g), ([, path]) => path));
  expect(redirected.filter((path) => !path?.startsWith('contract/dist/'))).toEqual([]);
});
