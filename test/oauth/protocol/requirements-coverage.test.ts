import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { statements } from './requirements.ts';

const tests = join(import.meta.dirname, '../..');

/** The numbers in the titles of all tests: in round brackets, within quotes. */
async function numbersInTitles(): Promise<Set<number>> {
  const numbers = new Set<number>();
  for (const file of await readdir(tests, { recursive: true })) {
    if (!file.endsWith('.test.ts')) continue;
    const text = await readFile(join(tests, file), 'utf8');
    for (const [, list = ''] of text.matchAll(/ \((\d{1,2}(?:, \d{1,2})*)\)(?=[^'`"\n]*['`"](?:,|\)\())/g)) {
      for (const number of list.split(', ')) numbers.add(Number(number));
    }
  }
  return numbers;
}

test('every statement has a test that names it, and no test names one that there is not', async () => {
  const promised = Object.keys(statements).map(Number);
  expect(promised).toEqual(Array.from({ length: 96 }, (_, at) => at + 1));
  const tested = await numbersInTitles();
  expect(promised.filter((number) => !tested.has(number))).toEqual([]);
  expect([...tested].filter((number) => !promised.includes(number))).toEqual([]);
});
