import type { Mutant } from './mutant.ts';
import type { Result } from './test-mutants.ts';

const shownMax = 160;

/** Formats a mutant's result: the test that detected the mutant, or the change that no test detected. */
export function printResult({ mutant, verdict }: Result): string {
  if (verdict.detectedBy === undefined) return `survived ${verdict.passed} test files: ${describeMutant(mutant)}\n`;
  return `detected by ${verdict.detectedBy}: ${mutant.file}:${mutant.line} ${mutant.operator}\n`;
}

/** Formats the score, which excludes mutants that were not tested for lack of time. */
export function printScore(results: readonly Result[], seed: number): string {
  const tested = results.filter(({ verdict }) => verdict.detectedBy !== undefined || verdict.passed > 0);
  const detected = tested.filter(({ verdict }) => verdict.detectedBy !== undefined);
  const byTypes = detected.filter(({ verdict }) => verdict.detectedBy === 'the type check').length;
  const untested = results.length - tested.length;
  const lines = [
    ...(untested > 0 ? [`${untested} mutants were not tested for lack of time.`] : []),
    `${detected.length} of ${tested.length} mutants detected (${percentage(detected.length, tested.length)}), ${byTypes} of them by the type check; seed ${seed}`,
  ];
  return `${lines.join('\n')}\n`;
}

function describeMutant({ file, line, operator, before, after }: Mutant): string {
  return `${file}:${line} ${operator}\n  - ${shortened(before)}\n  + ${shortened(after)}`;
}

const shortened = (text: string): string => {
  const oneLine = text.replaceAll(/\s+/g, ' ').trim();
  return oneLine.length > shownMax ? `${oneLine.slice(0, shownMax)}...` : oneLine;
};

const percentage = (part: number, whole: number): string => (whole === 0 ? 'none tested' : `${Math.round((100 * part) / whole)} %`);
