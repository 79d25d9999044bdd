import type { FaultOutcome } from './run-fault.ts';

/** Table header, in Markdown. */
export const tableHead = [
  '| fault | `npm run faults --` | times | acknowledged writes | lost | duplicated | wrongly accepted | recovery time, s, median / longest | notes |',
  '|---|---|---|---|---|---|---|---|---|',
].join('\n');

export function tableRow({ name, title, command, times, acknowledged, recoveries, findings }: FaultOutcome): string {
  const { lost, duplicated, wronglyAccepted, unexpected, notes } = findings;
  const sorted = recoveries.toSorted((a, b) => a - b);
  const recovery = sorted.length === 0 ? '' : `${seconds(sorted[Math.floor(sorted.length / 2)])} / ${seconds(sorted.at(-1))}`;
  const other = [
    ...(unexpected.length > 0 ? [`${unexpected.length} unexpected ${unexpected.length === 1 ? 'response' : 'responses'}`] : []),
    ...notes,
  ].join('; ');
  return `| ${[title, `\`--fault ${name} ${command}\``, times, acknowledged, lost.length, duplicated.length, wronglyAccepted.length, recovery, other].join(' | ')} |`;
}

const seconds = (value = Number.NaN): string => value.toFixed(value < 10 ? 2 : 1);

/** Returns one line for each violation. */
export const violationLines = ({ findings: { lost, duplicated, wronglyAccepted, unexpected } }: FaultOutcome): string[] => [
  ...lost.map((violation) => `lost: ${violation}`),
  ...duplicated.map((violation) => `duplicated: ${violation}`),
  ...wronglyAccepted.map((violation) => `wrongly accepted: ${violation}`),
  ...unexpected.map((violation) => `unexpected: ${violation}`),
];
