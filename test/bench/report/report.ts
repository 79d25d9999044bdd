import { isMet, type Goal } from './threshold.ts';
import type { CheckSummary, RateSummary, Spread, Summary } from './summary.ts';

const whole = (value: number): string => Math.round(value).toLocaleString('en');
/** As many digits as say something. */
const short = (value: number): string => (Math.abs(value) >= 100 ? whole(value) : value.toFixed(value >= 10 ? 1 : 2));

const goalOf = (goal: Goal | undefined, value: number): string => {
  if (goal === undefined) return '';
  const words = 'atMost' in goal ? `at most ${goal.atMost.toLocaleString('en')}` : `at least ${goal.atLeast.toLocaleString('en')}`;
  return ` [${words}: ${isMet(goal, value) ? 'met' : '**not met**'}]`;
};

const range = (runs: number, { min, max }: Spread): string => (runs > 1 ? ` (${short(min)}–${short(max)})` : '');

/** Markdown: what was measured and how, the rates, and everything else. */
export function table(summary: Summary): string {
  const { runs, rounds, seconds, connections, orders } = summary;
  const manner = `${runs === 1 ? 'One run' : `Medians of ${runs} runs`}, ${rounds === 1 ? 'one round' : `${rounds} rounds`} of ${seconds} s each, ${connections} connections, ${whole(orders)} orders. Goals are in brackets${runs > 1 ? ', in parentheses the least and the most of the runs' : ''}.`;
  const leftOut = summary.checks.some(({ name }) => name === 'page')
    ? []
    : ['', 'A page far down a list of ten million orders is measured with `--all`.'];
  return [manner, ...rateTable(summary), ...checkTable(summary), ...leftOut].join('\n');
}

function rateTable({ runs, rates }: Summary): string[] {
  if (rates.length === 0) return [];
  const rows = rates.map(({ title, subject, perSecond, ratios, steady, failed }) => {
    const beside = ratios.map((ratio) => {
      const theirs = whole(perSecond[ratio.peer] ?? 0);
      return `${ratio.median.toFixed(2)} x ${ratio.peer}${range(runs, ratio)}, ${theirs}/s${goalOf(ratio.goal, ratio.median)}`;
    });
    const latency = `${short(steady.p50Ms)} / ${short(steady.p99Ms)}`;
    const tail = `${steady.ratio.median.toFixed(1)}${range(runs, steady.ratio)}${goalOf(steady.ratio.goal, steady.ratio.median)}`;
    return `| ${title} | ${whole(perSecond[subject] ?? 0)} | ${beside.join('<br>')} | ${latency} | ${tail} | ${failed} |`;
  });
  return ['', '| case | a second | ratio | p50 / p99 at 70 %, ms | p99 : p50 | failed |', '|---|---|---|---|---|---|', ...rows];
}

function checkTable({ runs, checks }: Summary): string[] {
  if (checks.length === 0) return [];
  const rows = checks.map((check) => {
    const value = `${short(check.value)} ${check.unit}${range(runs, check.spread)}${goalOf(check.goal, check.value)}`;
    return `| ${check.title} | ${value} | ${partsOf(check)} |`;
  });
  return ['', '| figure | | of |', '|---|---|---|', ...rows];
}

/** Names begin with a unit: `12 % of a core`, `1.2 ms, page 1`. */
const partsOf = ({ parts }: CheckSummary): string =>
  Object.entries(parts)
    .map(([name, value]) => `${short(value)}${name.startsWith('/') ? '' : ' '}${name}`)
    .join('; ');

const begin = '<!-- benchmark: `npm run bench` writes what is between these lines -->';
const end = '<!-- /benchmark -->';

/** The document with this table in the place of the one before. */
export function withTable(document: string, lines: string): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the document has no place for the table: put these lines into it\n${begin}\n${end}`);
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

/** One group of bars for each case, each as long as its requests a second in proportion to the fastest of the case. */
export function chart(results: readonly RateSummary[]): string {
  let y = top;
  const groups = results.map(({ title, perSecond }) => {
    const most = Math.max(...Object.values(perSecond));
    const begun = y;
    const bars = Object.entries(perSecond).map(([who, value]) => {
      const width = Math.round((value / most) * chartWidth);
      const bar = `<rect x="${labelWidth}" y="${y}" width="${width}" height="${barHeight - 3}" rx="2" fill="${colors[who] ?? '#888'}"/>
<text x="${labelWidth + width + 6}" y="${y + 10}">${who} ${whole(value)}/s</text>`;
      y += barHeight;
      return bar;
    });
    y += barHeight;
    return `<text x="${labelWidth - 12}" y="${begun + 10}" text-anchor="end">${title}</text>\n${bars.join('\n')}`;
  });
  const [width, height] = [labelWidth + chartWidth + 160, y];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="#222">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${labelWidth}" y="22" font-size="13">how many a second, all servers in one run on the same machine</text>
${groups.join('\n')}
</svg>
`;
}
