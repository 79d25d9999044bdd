import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { securityFile, replacePermissionsTable } from './permissions-table.ts';

test('the permissions table in SECURITY.md equals the output of `npm run permissions`', async () => {
  const text = await readFile(securityFile, 'utf8');
  expect(text).toBe(replacePermissionsTable(text));
});

test('every test in SECURITY.md exists', async () => {
  const paths = Array.from((await readFile(securityFile, 'utf8')).matchAll(/`(test\/[\w./-]+)`/g), ([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((path) => !existsSync(join(import.meta.dirname, '../..', path)))).toEqual([]);
});
