import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { securityFile, withPermissionsTable } from './permissions.ts';

test('the table of permissions in SECURITY.md is what `npm run permissions` writes', async () => {
  const text = await readFile(securityFile, 'utf8');
  expect(text).toBe(withPermissionsTable(text));
});

test('every test that SECURITY.md names exists', async () => {
  const paths = Array.from((await readFile(securityFile, 'utf8')).matchAll(/`(test\/[\w./-]+)`/g), ([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((path) => !existsSync(join(import.meta.dirname, '../..', path)))).toEqual([]);
});
