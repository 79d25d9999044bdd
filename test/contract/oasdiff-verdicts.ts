import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { breakingPairs, compatiblePairs, debatablePairs } from './document-pairs.ts';
import { differenceReasons } from './oasdiff-differences.ts';

/** A planted change, or its reversal. */
export type PlantedChange = {
  readonly name: string;
  readonly direction: 'made' | 'reversed';
  readonly before: unknown;
  readonly after: unknown;
};

export const plantedChanges: readonly PlantedChange[] = [...breakingPairs, ...compatiblePairs, ...debatablePairs].flatMap(
  ({ name, before, after }): PlantedChange[] => [
    { name, direction: 'made', before, after },
    { name, direction: 'reversed', before: after, after: before },
  ],
);

/** The key of a change in the stored verdicts and in `differenceReasons`. */
export const getChangeKey = ({ name, direction }: Pick<PlantedChange, 'name' | 'direction'>): string => `${name}, ${direction}`;

const verdict = z.enum(['breaking', 'compatible']);
const verdictPair = z.object({
  ours: verdict,
  oasdiff: verdict,
  /** IDs of the violated rules that oasdiff reported, separated by commas. */
  rules: z.string(),
});
const storedVerdicts = z.object({
  /** Version of oasdiff. */
  version: z.string(),
  /** Hash of the planted changes. If the hash differs, new verdicts are needed. */
  changes: z.string(),
  verdicts: z.record(verdictPair),
});
export type Verdict = z.infer<typeof verdict>;
export type VerdictPair = z.infer<typeof verdictPair>;

const verdictsFile = join(import.meta.dirname, 'oasdiff-verdicts.json');

export const hashPlantedChanges = (): string => createHash('sha256').update(JSON.stringify(plantedChanges)).digest('hex');

/** The verdicts of the last run of `npm run contract:oasdiff`. */
export const readVerdicts = async () => storedVerdicts.parse(JSON.parse(await readFile(verdictsFile, 'utf8')));

export const storeVerdicts = (version: string, verdicts: Readonly<Record<string, VerdictPair>>): Promise<void> =>
  writeFile(verdictsFile, `${JSON.stringify({ version, changes: hashPlantedChanges(), verdicts }, undefined, 2)}\n`);

/** Whether two verdicts are equal, or differ for a documented reason. A documented reason for equal verdicts is also an error. */
export const isExplained = (key: string, { ours, oasdiff }: VerdictPair): boolean =>
  (ours === oasdiff) === (differenceReasons[key] === undefined);
