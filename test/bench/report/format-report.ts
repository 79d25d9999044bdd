import { isMet, type Goal } from '../measurements/check.ts';
import type { CheckSummary, RateSummary, Spread, Summary } from './summarize-runs.ts';

const formatInteger = (value: number): string => Math.round(value).toLocaleString('en');
/** Formats a number with two decimal places below 10, one below 100, and none from 100 upward. */
const formatNumber = (value: number): string => (Math.abs(value) >= 100 ? formatInteger(value) : value.toFixed(value >= 10 ? 1 : 2));

const formatGoal = (goal: Goal | undefined, value: number): string => {
  if (goal === undefined) return '';
  const words = 'atMost' in goal ? `at most ${goal.atMost.toLocaleString('en')}` : `at least ${goal.atLeast.toLocaleString('en')}`;
  return ` [${words}: ${isMet(goal, value) ? 'met' : '**not met**'}]`;
};

const formatRange = (runs: number, { min, max }: Spread): string => (runs > 1 ? ` (${formatNumber(min)}–${formatNumber(max)})` : '');

/** Formats settings, rates and other measurements as Markdown. */
export function formatTables(summary: Summary): string {
  const { runs, rounds, seconds, connections, orders, customers } = summary;
  const settingsLine = `The figures are ${runs === 1 ? 'from one run' : `medians of ${runs} runs`} with ${rounds === 1 ? 'one round' : `${rounds} rounds`} of ${seconds} s each, ${connections} connections, ${formatInteger(orders)} orders, and ${formatInteger(customers)} customers with one token each. Goals are in square brackets${runs > 1 ? '; the minimum and maximum of the runs are in parentheses' : ''}.`;
  const deepPageHint = summary.checks.some(({ name }) => name === 'page')
    ? []
    : ['', '`--all` also measures a page deep in a list of ten million orders.'];
  return [settingsLine, ...rateTable(summary), ...checkTable(summary), ...deepPageHint].join('\n');
}

function rateTable({ runs, rates }: Summary): string[] {
  if (rates.length === 0) return [];
  const rows = rates.map(({ title, subject, perSecond, perSecondGoal, ratios, steady, p99, failed }) => {
    const rate = perSecond[subject] ?? 0;
    const comparisons = ratios.map((ratio) => {
      const theirs = formatInteger(perSecond[ratio.peer] ?? 0);
      return `${ratio.median.toFixed(2)} x ${ratio.peer}${formatRange(runs, ratio)}, ${theirs}/s${formatGoal(ratio.goal, ratio.median)}`;
    });
    const latency = `${formatNumber(steady.p50Ms)} / ${formatNumber(steady.p99Ms)}`;
    const tails = p99.map(
      ({ load, oursMs, theirsMs, goal, ...spread }) =>
        `at ${load}: ${spread.median.toFixed(2)} x${formatRange(runs, spread)}, ${formatNumber(oursMs)} and ${formatNumber(theirsMs)} ms${formatGoal(goal, spread.median)}`,
    );
    return `| ${title} | ${formatInteger(rate)}${formatGoal(perSecondGoal, rate)} | ${comparisons.join('<br>')} | ${latency} | ${tails.join('<br>')} | ${failed} |`;
  });
  return [
    '',
    '| case | requests/s | ratio to peers | p50 / p99 at 70 %, ms | p99 compared with floor | failed |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
}

function checkTable({ runs, checks }: Summary): string[] {
  if (checks.length === 0) return [];
  const rows = checks.map((check) => {
    const value = `${formatNumber(check.value)} ${check.unit}${formatRange(runs, check.spread)}${formatGoal(check.goal, check.value)}`;
    return `| ${check.title} | ${value} | ${formatComponents(check)} |`;
  });
  return ['', '| figure | value | components |', '|---|---|---|', ...rows];
}

/** A component's name starts with the unit, because the name follows the value: `12 % of a core`, `1.2 ms, page 1`. */
const formatComponents = ({ parts }: CheckSummary): string =>
  Object.entries(parts)
    .map(([name, value]) => `${formatNumber(value)}${name.startsWith('/') ? '' : ' '}${name}`)
    .join('; ');

/** Replaces the generated text in a document. */
export function replaceGeneratedText(document: string, lines: string): string {
  const begin = '<!-- benchmark: `npm run bench` generates the text between these lines -->';
  const end = '<!-- /benchmark -->';
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the document does not contain the marker lines; add them\n${begin}\n${end}`);
  return `${document.slice(0, from + begin.length)}\n\n${lines}\n\n${document.slice(to)}`;
}

const colors: Readonly<Record<string, string>> = {
  mandate: '#2f6f4f',
  'mandate-pglite': '#7fae93',
  floor: '#9aa5b1',
  fastify: '#c08a3e',
  orm: '#a65d57',
  'oidc-provider': '#6b7fb3',
};
const [barHeight, labelWidth, chartWidth, top] = [16, 300, 420, 40];

/** Draws one group of bars for each case. Bar lengths are relative to the fastest server in the case. */
export function drawChart(results: readonly RateSummary[]): string {
  let y = top;
  const groups = results.map(({ title, perSecond }) => {
    const highest = Math.max(...Object.values(perSecond));
    const groupTop = y;
    const bars = Object.entries(perSecond).map(([server, value]) => {
      const width = Math.round((value / highest) * chartWidth);
      const bar = `<rect x="${labelWidth}" y="${y}" width="${width}" height="${barHeight - 3}" rx="2" fill="${colors[server] ?? '#888'}"/>
<text x="${labelWidth + width + 6}" y="${y + 10}">${server} ${formatInteger(value)}/s</text>`;
      y += barHeight;
      return bar;
    });
    y += barHeight;
    return `<text x="${labelWidth - 12}" y="${groupTop + 10}" text-anchor="end">${title}</text>\n${bars.join('\n')}`;
  });
  const [width, height] = [labelWidth + chartWidth + 160, y];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="#222">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${labelWidth}" y="22" font-size="13">requests per second, all servers in one run on the same machine</text>
${groups.join('\n')}
</svg>
`;
}
