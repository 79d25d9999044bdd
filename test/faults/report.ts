import type { Outcome } from './run-fault.ts';

/** The head of the table, in Markdown. */
export const tableHead = [
  '| fault | `npm run faults --` | times | acknowledged writes | lost | duplicated | wrongly accepted | recovered, s, median / longest | notes |',
  '|---|---|---|---|---|---|---|---|---|',
].join('\n');

export function tableRow({ name, title, command, times, acknowledged, recoveries, findings }: Outcome): string {
  const { lost, doubled, letIn, unexpected, notes } = findings;
  const sorted = recoveries.toSorted((a, b) => a - b);
  const recovered = sorted.length === 0 ? '' : `${seconds(sorted[Math.floor(sorted.length / 2)])} / ${seconds(sorted.at(-1))}`;
  const other = [...(unexpected.length > 0 ? [`${unexpected.length} unexpected answers`] : []), ...notes].join('; ');
  return `| ${[title, `\`--fault ${name} ${command}\``, times, acknowledged, lost.length, doubled.length, letIn.length, recovered, other].join(' | ')} |`;
}

const seconds = (value = Number.NaN): string => value.toFixed(value < 10 ? 2 : 1);

/** What is wrong, a line each; empty when nothing is. */
export const complaints = ({ findings: { lost, doubled, letIn, unexpected } }: Outcome): string[] => [
  ...lost.map((what) => `lost: ${what}`),
  ...doubled.map((what) => `doubled: ${what}`),
  ...letIn.map((what) => `let in: ${what}`),
  ...unexpected.map((what) => `unexpected: ${what}`),
];
