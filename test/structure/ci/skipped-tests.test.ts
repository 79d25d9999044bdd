import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assertAvailableInCi } from '../../support/assert-available-in-ci.ts';

const repositoryRoot = join(import.meta.dirname, '../../..');

test('if a program is missing, tests are skipped on a developer machine, and fail in CI', () => {
  expect(assertAvailableInCi('Chromium', false, {})).toBe(false);
  expect(assertAvailableInCi('Chromium', true, { CI: 'true' })).toBe(true);
  expect(() => assertAvailableInCi('Chromium', false, { CI: 'true' })).toThrow('Chromium is not installed');
});

test('the CI run sets CI, and installs every package whose absence would skip tests', async () => {
  const script = await readFile(join(repositoryRoot, '.ci/run'), 'utf8');
  expect(script).toMatch(/^export CI=true/m);
  const [, list = ''] = /^ {2}local wanted=\(([^)]*)\)/m.exec(script) ?? [];
  const installed = list.trim().split(/\s+/);
  const contributing = await readFile(join(repositoryRoot, 'CONTRIBUTING.md'), 'utf8');
  const named = Array.from(contributing.matchAll(/`apt-get install ([^`]+)`/g), ([, packages = '']) => packages.split(' ')).flat();
  expect(named).toEqual(expect.arrayContaining(['chromium', 'python3-httpx', 'python3-pip']));
  expect(installed).toEqual(expect.arrayContaining(named));
});
