import { expect, test } from 'vitest';
import { breakingPairs, compatiblePairs } from './document-pairs.ts';
import { differenceReasons } from './oasdiff-differences.ts';
import { getChangeKey, hashPlantedChanges, isExplained, plantedChanges, readVerdicts } from './oasdiff-verdicts.ts';

/**
 * Compares the verdicts of the last run of `npm run contract:oasdiff`, which requires Go and takes several minutes. compatible.test.ts
 * tests our verdicts about the changes themselves.
 */
const { changes, verdicts } = await readVerdicts();

test('oasdiff has judged the current planted changes in both directions; if it has not, run `npm run contract:oasdiff`', () => {
  expect(changes).toBe(hashPlantedChanges());
  const keys = plantedChanges.map(getChangeKey);
  expect(keys.length).toBeGreaterThanOrEqual(2 * 25);
  expect(Object.keys(verdicts)).toEqual(keys);
  expect(keys).toEqual(expect.arrayContaining(Object.keys(differenceReasons)));
});

test('the verdicts are equal, or differ for a documented reason, and oasdiff is never stricter', () => {
  const unexplained = Object.entries(verdicts).filter(([key, pair]) => !isExplained(key, pair));
  expect(unexplained).toEqual([]);
  const onlyForOasdiff = Object.entries(verdicts).filter(([, { ours, oasdiff }]) => ours === 'compatible' && oasdiff === 'breaking');
  expect(onlyForOasdiff).toEqual([]);
});

test('our stored verdicts are those that compatible.test.ts expects', () => {
  const listOurs = (pairs: readonly { name: string }[]) =>
    new Set(pairs.map(({ name }) => verdicts[getChangeKey({ name, direction: 'made' })]?.ours));
  expect([listOurs(breakingPairs), listOurs(compatiblePairs)]).toEqual([new Set(['breaking']), new Set(['compatible'])]);
});
