import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { oauthRequirements } from './requirements.ts';

const testFolder = join(import.meta.dirname, '../..');

/** Returns all requirement numbers that appear in parentheses in test titles. */
async function requirementNumbersInTitles(): Promise<Set<number>> {
  const numbers = new Set<number>();
  for (const file of await readdir(testFolder, { recursive: true })) {
    if (!file.endsWith('.test.ts')) continue;
    const text = await readFile(join(testFolder, file), 'utf8');
    for (const [, list = ''] of text.matchAll(/ \((\d{1,2}(?:, \d{1,2})*)\)(?=[^'`"\n]*['`"](?:,|\)\())/g)) {
      for (const number of list.split(', ')) numbers.add(Number(number));
    }
  }
  return numbers;
}

test('every requirement number is in a test title, and every number in a test title is a requirement', async () => {
  const requirementNumbers = Object.keys(oauthRequirements).map(Number);
  expect(requirementNumbers).toEqual(Array.from({ length: 96 }, (_, at) => at + 1));
  const testedNumbers = await requirementNumbersInTitles();
  expect(requirementNumbers.filter((number) => !testedNumbers.has(number))).toEqual([]);
  expect([...testedNumbers].filter((number) => !requirementNumbers.includes(number))).toEqual([]);
});
