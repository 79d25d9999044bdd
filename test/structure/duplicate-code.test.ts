import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findDuplicates } from './duplicate-code.ts';

const root = join(import.meta.dirname, '../..');
const folders = ['server', 'cli', 'client-sdk', 'contract', 'examples', 'test'];

/** Generated files contain duplicates by design, and migrations never change after their release. */
const ignored = /\.gen\.ts$|\/migrations\//;

test('no run of six or more lines occurs twice', () => {
  const tracked = execFileSync('git', ['ls-files', ...folders], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  const files = tracked.filter((file) => /\.[jt]sx?$/.test(file) && !ignored.test(file) && existsSync(join(root, file)));
  expect(files.length).toBeGreaterThan(1_000);
  const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  expect(findDuplicates(sources).map(({ first, second }) => `${first} ~ ${second}`)).toEqual([]);
});

describe('findDuplicates', () => {
  const run = [
    'const total = sum(lines);',
    'const tax = taxOf(total);',
    'store(total);',
    'store(tax);',
    'notify(customer);',
    'return total;',
  ];
  const find = (first: readonly string[], second: readonly string[]) =>
    findDuplicates(
      new Map([
        ['first.ts', first.join('\n')],
        ['second.ts', second.join('\n')],
      ]),
    );

  test('returns both places of a planted duplicate', () => {
    expect(find(run, ['start();', ...run, 'stop();'])).toEqual([{ first: 'first.ts:1-6', second: 'second.ts:2-7', lines: 6 }]);
  });

  test('ignores indentation, blank lines, comments and lines without a name', () => {
    const disguised = run.flatMap((line, n) => [`  ${line}`, n === 2 ? '  });' : '', '  // a comment', '/** Another comment. */']);
    expect(find(run, disguised)).toMatchObject([{ first: 'first.ts:1-6', lines: 6 }]);
  });

  test('returns a duplicate within one file, and the longest run of it', () => {
    const longer = [...run, 'finish();'];
    expect(find([...longer, 'separate();', ...longer], [])).toEqual([{ first: 'first.ts:1-7', second: 'first.ts:9-15', lines: 7 }]);
  });

  test('accepts five equal lines, and equal imports', () => {
    expect(find(run.slice(1), run.slice(1))).toEqual([]);
    const imports = ['import {', ...'abcdef'.split('').map((name) => `  ${name},`), "} from './letters.ts';"];
    expect(find([...imports, 'first();'], [...imports, 'second();'])).toEqual([]);
  });
});
