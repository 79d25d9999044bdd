import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { serverFolders } from '../../server-layers.ts';
import { findCycle, groupImports, readImports } from './import-graph.ts';

const root = join(import.meta.dirname, '../..');

describe('imports have no cycles', () => {
  test.each(['server', 'cli', 'client-sdk', 'contract', 'test/support'])('among the folders of %s', (source) => {
    const imports = readImports(root, source);
    expect(imports.size).toBeGreaterThan(40);
    expect(findCycle(groupImports(imports, dirname))).toBeUndefined();
  });

  test('among the top-level folders of server', () => {
    expect(findCycle(groupImports(readImports(root, 'server'), (file) => file.split('/').slice(0, 2).join('/')))).toBeUndefined();
  });

  test.each(['server', 'cli', 'client-sdk', 'contract', 'test'])('among the files of %s', (source) => {
    expect(findCycle(readImports(root, source))).toBeUndefined();
  });

  test('findCycle returns a planted cycle', () => {
    const planted = new Map([
      ['a', new Set(['b'])],
      ['b', new Set(['c'])],
      ['c', new Set(['b'])],
    ]);
    expect(findCycle(planted)).toEqual(['b', 'c', 'b']);
  });
});

test('server-layers.ts lists every folder of server once', () => {
  const folders = readdirSync(join(root, 'server'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = folders.map(({ name }) => name).filter((name) => !['bin', 'dist', 'node_modules'].includes(name));
  expect(serverFolders.toSorted()).toEqual(names.toSorted());
});

test('no folder has more than 20 files, except migrations', () => {
  const files = execFileSync('git', ['ls-files', 'server', 'cli', 'client-sdk', 'contract', 'console', 'test'], {
    cwd: root,
    encoding: 'utf8',
  });
  const folders = Map.groupBy(files.trim().split('\n'), dirname);
  const crowded = [...folders].flatMap(([folder, { length }]) => (length > 20 && !folder.endsWith('/migrations') ? [folder] : []));
  expect(folders.size).toBeGreaterThan(100);
  expect(crowded).toEqual([]);
});
