import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');

const lockfile = z.object({
  packages: z.record(
    z.object({ link: z.boolean().optional(), integrity: z.string().optional(), optionalDependencies: z.record(z.string()).default({}) }),
  ),
});

const { packages } = lockfile.parse(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')));
const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);

test('the lockfile has a SHA-512 hash for every package', () => {
  expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([]);
});

// `npm ci` requests every optional dependency from the registry, and fails if a package is neither locked nor in the registry
test('the lockfile contains every optional dependency', () => {
  const names = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)));
  const missing = installed.flatMap(([, { optionalDependencies }]) => Object.keys(optionalDependencies)).filter((name) => !names.has(name));
  expect(missing).toEqual([]);
});
