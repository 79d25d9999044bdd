import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findReleaseProblems, publishedWorkspaces, readManifest } from '../../packaging/release-checks.ts';

const repositoryRoot = join(import.meta.dirname, '../..');

let copy: string;
beforeEach(async () => {
  copy = await mkdtemp(join(tmpdir(), 'mandate-release-'));
  const { workspaces } = await readManifest(repositoryRoot);
  const manifests = ['.', ...workspaces].map((folder) => join(folder, 'package.json'));
  const texts = ['.', ...publishedWorkspaces].flatMap((folder) => [join(folder, 'LICENSE'), join(folder, 'README.md')]);
  const python = ['LICENSE', 'README.md', 'pyproject.toml'].map((file) => join('clients/python', file));
  for (const file of [...manifests, ...texts, ...python, 'package-lock.json', 'CHANGELOG.md', 'deploy/Dockerfile']) {
    await mkdir(dirname(join(copy, file)), { recursive: true });
    await cp(join(repositoryRoot, file), join(copy, file));
  }
});
afterEach(() => rm(copy, { recursive: true, force: true }));

test('the current version can be released', async () => {
  expect(await findReleaseProblems(copy)).toEqual([]);
});

test.each([
  ['server/package.json', '"version": "0.1.0"', '"version": "0.1.1"', /server\/package\.json has version 0\.1\.1/],
  ['server/package.json', '"@mandate/contract": "0.1.0"', '"@mandate/contract": "0.0.9"', /depends on @mandate\/contract 0\.0\.9/],
  ['server/package.json', '"provenance": true', '"provenance": false', /published publicly with provenance/],
  ['cli/package.json', '"directory": "cli"', '"directory": "client"', /repository that differs/],
  ['contract/package.json', '"license": "MIT"', '"license": "ISC"', /license or homepage that differs/],
  ['client-sdk/package.json', '"license": "MIT"', '"private": true,\n  "license": "MIT"', /is private/],
  ['examples/storefront/package.json', '"private": true', '"private": false', /storefront\/package\.json must be private/],
  ['package-lock.json', '      "version": "0.1.0"', '      "version": "0.0.9"', /package-lock\.json has version 0\.0\.9/],
  ['server/LICENSE', 'MIT', 'ISC', /server\/LICENSE differs/],
  ['clients/python/LICENSE', 'MIT', 'ISC', /clients\/python\/LICENSE differs/],
  ['clients/python/pyproject.toml', 'text = "MIT"', 'text = "ISC"', /license or homepage that differs/],
  ['clients/python/pyproject.toml', 'https://mandate.example', 'https://other.example', /license or homepage that differs/],
  ['clients/python/pyproject.toml', 'keywords = ["api-client", ', 'tags = ["api-client", ', /has no keywords/],
  ['clients/python/pyproject.toml', '{ attr = "mandate_client._version.VERSION" }', '"0.0.9"', /does not use the generated version/],
  ['CHANGELOG.md', '## 0.1.0', '## 0.2.0', /first section of CHANGELOG\.md is "0\.2\.0"/],
  ['deploy/Dockerfile', 'FROM node:', 'FROM node:9', /does not use Node\.js/],
  ['deploy/Dockerfile', 'COPY cli/package.json cli/', '', /does not copy cli\/package\.json/],
])('%s with %j replaced by %j cannot be released', async (file, before, after, problem) => {
  const text = await readFile(join(copy, file), 'utf8');
  expect(text).toContain(before);
  await writeFile(
    join(copy, file),
    text.replace(before, () => after),
  );
  expect(await findReleaseProblems(copy)).toEqual([expect.stringMatching(problem)]);
});
