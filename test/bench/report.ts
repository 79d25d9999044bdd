import type { Starts } from './starting.ts';

export type Result = {
  readonly name: string;
  readonly title: string;
  readonly goals: Readonly<Record<string, number>>;
  /** Medians of the rounds, by server. */
  readonly perSecond: Readonly<Record<string, number>>;
  readonly memoryMb: Readonly<Record<string, number>>;
  /** Of our server at 70 % of its maximum, at a constant rate. */
  readonly steady: { readonly p50Ms: number; readonly p99Ms: number };
  readonly failed: number;
};

const whole = (value: number): string => Math.round(value).toLocaleString('en');

/** Markdown. A ratio is ours to theirs; in brackets the goal. */
export function table(results: readonly Result[], starts: Starts | undefined): string {
  const lines = results.map(({ title, perSecond, goals, steady, memoryMb, failed }) => {
    const { mandate = 0, ...peers } = perSecond;
    const ratios = Object.entries(peers).map(([who, theirs]) => {
      const goal = goals[who];
      return `${(mandate / theirs).toFixed(2)} x ${who} (${whole(theirs)}/s)${goal === undefined ? '' : ` [${goal}]`}`;
    });
    const latency = `${steady.p50Ms} / ${steady.p99Ms}`;
    return `| ${title} | ${whole(mandate)} | ${ratios.join('<br>')} | ${latency} | ${whole(memoryMb['mandate'] ?? 0)} | ${failed} |`;
  });
  const started = starts
    ? `\nFirst start ${whole(starts.firstMs)} ms, with data ${whole(starts.laterMs)} ms, on the embedded database.\n`
    : '';
  return [
    '| case | requests/s | ratio [goal] | p50 / p99 at 70 %, ms | memory, MB | failed |',
    '|---|---|---|---|---|---|',
    ...lines,
    started,
  ].join('\n');
}

const colors: Readonly<Record<string, string>> = { mandate: '#2f6f4f', floor: '#9aa5b1', fastify: '#c08a3e', orm: '#a65d57' };
const [barHeight, labelWidth, chartWidth, top] = [16, 300, 420, 40];

/** One group of bars for each case, each as long as its requests a second in proportion to the fastest of the case. */
export function chart(results: readonly Result[]): string {
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
  const [width, height] = [labelWidth + chartWidth + 140, y];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="#222">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${labelWidth}" y="22" font-size="13">requests a second, all servers in one run on the same machine</text>
${groups.join('\n')}
</svg>
`;
}
