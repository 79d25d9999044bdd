import type { Mutant } from './mutants.ts';
import type { Result } from './test-mutants.ts';

const shownMax = 160;

/** Prints survivors with their change, and the score. Mutants that there was no time to test are not part of the score. */
export function printReport(results: readonly Result[], seed: number): string {
  const tested = results.filter(({ verdict }) => verdict.noticedBy !== undefined || verdict.passed > 0);
  const noticed = tested.filter(({ verdict }) => verdict.noticedBy !== undefined);
  const survivors = tested.flatMap(({ mutant, verdict }) => (verdict.noticedBy === undefined ? [{ mutant, passed: verdict.passed }] : []));
  const byTypes = noticed.filter(({ verdict }) => verdict.noticedBy === 'the type check').length;
  const lines = [
    ...noticed.map(({ mutant: { file, line, operator }, verdict }) => `noticed by ${verdict.noticedBy}: ${file}:${line} ${operator}`),
    ...survivors.map(({ mutant, passed }) => `survived ${passed} test files: ${describeMutant(mutant)}`),
    ...(results.length > tested.length ? [`${results.length - tested.length} mutants were not tested: no time was left.`] : []),
    `${noticed.length} of ${tested.length} mutants noticed (${percentage(noticed.length, tested.length)}), ${byTypes} of them only by the type check; seed ${seed}`,
  ];
  return `${lines.join('\n')}\n`;
}

export function describeMutant({ file, line, operator, before, after }: Mutant): string {
  return `${file}:${line} ${operator}\n  - ${shortened(before)}\n  + ${shortened(after)}`;
}

const shortened = (text: string): string => {
  const oneLine = text.replaceAll(/\s+/g, ' ').trim();
  return oneLine.length > shownMax ? `${oneLine.slice(0, shownMax)}...` : oneLine;
};

const percentage = (part: number, whole: number): string => (whole === 0 ? 'none tested' : `${Math.round((100 * part) / whole)} %`);
